import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, KINDS, kindOf, PEBBLES, textOn, type Theme } from "../src/colours";

const GROUND: Record<Theme, string> = { light: "#ffffff", dark: "#11161c" };
const THEMES: Theme[] = ["light", "dark"];

test("ink can be read on the ground", () => {
  for (const theme of THEMES) {
    for (const kind of KINDS) {
      const found = contrast(kind.ink[theme], GROUND[theme]);
      assert.ok(found >= 4.5, `${kind.token} ${theme} ${found.toFixed(2)}`);
    }
  }
});

test("text can be read on every fill", () => {
  for (const theme of THEMES) {
    for (const fill of [...KINDS.map((kind) => kind.fill[theme]), ...PEBBLES[theme]]) {
      assert.ok(contrast(fill, textOn(fill)) >= 4.5, `${fill} ${contrast(fill, textOn(fill)).toFixed(2)}`);
    }
  }
});

test("no two kinds share a fill, and what is not known is unnamed", () => {
  for (const theme of THEMES) {
    assert.equal(new Set(KINDS.map((kind) => kind.fill[theme])).size, KINDS.length);
  }
  assert.equal(kindOf("nonsense").token, "unnamed");
});
