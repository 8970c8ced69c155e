// Keys of versions are texts in the order of the versions, so that a store compares versions like any other text.

export const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
