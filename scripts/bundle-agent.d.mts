/** Writes the agent as one file; nothing without esbuild. The version is the project's, if no other is given. */
export function bundleAgent(root: string, outfile: string, asVersion?: string): Promise<void>;
