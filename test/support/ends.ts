// Clean-up of helpers, after each test and after each file. A helper is loaded once for many files: a hook that it
// registered with vitest while loading would only run for the first file.
type End = () => unknown;

export const ends: { readonly test: End[]; readonly file: End[] } = { test: [], file: [] };

export const afterEveryTest = (end: End): void => void ends.test.push(end);
export const afterEveryFile = (end: End): void => void ends.file.push(end);
