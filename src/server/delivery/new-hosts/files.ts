// Where the files for new hosts are, in the source and in the build. This module finds them by its own place, so it
// imports nothing of the project.
import { readFile, stat } from "node:fs/promises";

const places = {
  agent: new URL("../../../../dist/agent.mjs", import.meta.url),
  shell: new URL("./enroll.sh", import.meta.url),
  powershell: new URL("./enroll.ps1", import.meta.url),
};
export type AgentFile = keyof typeof places;

/** Null: the file is not there, such as the agent's in a checkout that is not built. */
export async function readAgentFile(name: AgentFile): Promise<{ bytes: Buffer; version: string } | null> {
  const version = await versionOf(name);
  return version === null ? null : { bytes: await readFile(places[name]), version };
}

/** Changes with the file. */
export const versionOf = (name: AgentFile): Promise<string | null> =>
  stat(places[name]).then(
    ({ mtimeMs, size }) => `${mtimeMs} ${size}`,
    () => null,
  );
