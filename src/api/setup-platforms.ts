// Platforms whose hosts install software during their setup.
/** Platforms in the spelling of stored rows and activities. In requests, `macos` is another name of `darwin`. */
export const setupPlatforms = ["darwin", "windows", "linux", "ios", "ipados", "android"] as const;
export type SetupPlatform = (typeof setupPlatforms)[number];
