// What a feature asks of features that it does not know, because they build on it: each adds to this type what it
// needs, and `server/extensions.ts` says who does it.

// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface Extensions {}
