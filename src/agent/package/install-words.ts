// What an installer's script gives to the agent's own `install`, on the host.
import type { PackageSetup } from "./files.ts";

export interface ScriptLanguage {
  /** Any text as one word. */
  readonly quote: (text: string) => string;
  /** The word for a file that lies beside the script. */
  readonly beside: (name: string) => string;
}

/** The names of the files that lie beside the script. */
export const SECRET_FILE = "secret";
export const CA_FILE = "ca.pem";

/** The words after the agent's program, quoted. The host's default folder for the state needs no word. */
export function installWords(setup: PackageSetup, { quote, beside }: ScriptLanguage): string {
  const { serverUrl, ca, pins, stateDir, runsScripts, signsRequests = false, identityKey = "rsa" } = setup;
  return [
    "install",
    "--restart",
    quote(`--server-url=${serverUrl}`),
    `--enroll-secret-file=${beside(SECRET_FILE)}`,
    ...(ca === null ? [] : [`--ca-file=${beside(CA_FILE)}`]),
    ...pins.map((pin) => quote(`--pin=${pin}`)),
    ...(stateDir === null ? [] : [quote(`--state-dir=${stateDir}`)]),
    ...(runsScripts ? [] : ["--no-scripts"]),
    ...(signsRequests ? ["--sign-requests", `--identity-key=${identityKey}`] : []),
  ].join(" ");
}
