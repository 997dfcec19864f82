import assert from "node:assert/strict";
import { test } from "node:test";
import { sorted } from "../src/long_table";

test("rows are sorted by number or by name, equal ones as they were", () => {
  const rows = [{ n: 2, t: "b" }, { n: 10, t: "a" }, { n: 2, t: "c" }];
  assert.deepEqual([...sorted(rows, (row) => row.n)], [0, 2, 1]);
  assert.deepEqual([...sorted(rows, (row) => row.t)], [1, 0, 2]);
  assert.deepEqual([...sorted([], () => 0)], []);
});
