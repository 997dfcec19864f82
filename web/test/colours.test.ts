import assert from "node:assert/strict";
import { test } from "node:test";
import { CHANGE_STEPS, changeFill, changeStep, contrast, KINDS, kindOf, PEBBLES, textOn, type Theme } from "../src/colours";

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

test("change has five steps each way, by the share of the larger side", () => {
  assert.equal(changeStep(100, 100), 0);
  assert.equal(changeStep(0, 0), 0);
  assert.equal(changeStep(1000, 1005), 0);
  assert.equal(changeStep(100, 103), 1);
  assert.equal(changeStep(100, 200), 3);
  assert.equal(changeStep(0, 7), CHANGE_STEPS);
  assert.equal(changeStep(7, 0), -CHANGE_STEPS);
});

test("steps of change are told apart, and text can be read on them", () => {
  for (const theme of THEMES) {
    const fills = Array.from({ length: 2 * CHANGE_STEPS + 1 }, (_, i) => changeFill(i - CHANGE_STEPS, theme));
    assert.equal(new Set(fills).size, fills.length);
    for (const fill of fills) assert.ok(contrast(fill, textOn(fill)) >= 4.5, fill);
  }
});
