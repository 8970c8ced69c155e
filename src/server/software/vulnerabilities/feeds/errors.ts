/** A feed cannot be read or used. The message says why, and may be shown to admins. */
export class FeedError extends Error {}
