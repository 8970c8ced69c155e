// Clean-up of helpers, after each test and after each file. A helper is loaded once for many files: a hook that it gave vitest while
// it loads would be the first file's alone.
type End = () => unknown;

export const ends: { readonly test: End[]; readonly file: End[] } = { test: [], file: [] };

export const afterEveryTest = (end: End): void => void ends.test.push(end);
export const afterEveryFile = (end: End): void => void ends.file.push(end);
