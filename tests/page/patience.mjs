// How tests wait: for what must come as long as the slowest machine takes, and no longer than it takes to come.

import assert from "node:assert/strict";

/** Milliseconds after which what must come is said to be missing: the one ceiling of all waits of these tests. */
export const PATIENCE = 180_000;

const late = (what) => `${what}: not there after ${PATIENCE / 1000} s`;
const pause = () => new Promise((done) => setTimeout(done, 200));

/** Repeats `find` until it returns something. */
export async function found(find, what) {
  for (const end = Date.now() + PATIENCE; ; await pause()) {
    const result = await find();
    if (result) return result;
    assert.ok(Date.now() < end, late(what));
  }
}

/** Repeats `read` while it throws, as it does until the index has what it reads; in the end, throws the same. */
export async function until(read) {
  for (const end = Date.now() + PATIENCE; ; await pause()) {
    try {
      return await read();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** A gate: `held` waits until `release` is called, and resolves to what it is given. */
export function gate() {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  return { held, release };
}

/** What `coming` resolves to, or a failure if that takes too long. */
export async function within(coming, what) {
  let timer;
  const missing = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error(late(what))), PATIENCE)));
  return Promise.race([coming, missing]).finally(() => clearTimeout(timer));
}
