/** Writes the agent as one file; nothing without esbuild. */
export function bundleAgent(root: string, outfile: string): Promise<void>;
