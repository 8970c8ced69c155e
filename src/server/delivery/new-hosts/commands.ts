// The commands that people copy to install the agent on a new host.
import type { AgentPlatform } from "../../../api/delivery/new-hosts.ts";
import { powershellWord, shellWord } from "../../../text/shell.ts";

interface CommandOptions {
  readonly signsRequests: boolean;
  /**
   * Pin of the server's public key, if systems do not trust its certificate: the script brings what the agent trusts.
   */
  readonly keyPin: string | null;
}

/** With a pin, curl trusts the server with that key, and no other. */
const curl = (pin: string | null) => (pin === null ? "-fsSL" : `-fsSLk --pinnedpubkey sha256//${pin}`);

export function enrollCommands(
  serverUrl: string,
  token: string,
  { signsRequests, keyPin }: CommandOptions,
): Record<AgentPlatform, string> {
  const script = `curl ${curl(keyPin)} ${shellWord(`${serverUrl}/enroll/enroll.sh`)}`;
  const options = `--server-url ${shellWord(serverUrl)} --token ${shellWord(token)}`;
  const shell = `${script} | sh -s -- ${options}${signsRequests ? " --sign-requests" : ""}`;
  const url = powershellWord(`${serverUrl}/enroll/enroll.ps1`);
  const fetched =
    keyPin === null ? `(Invoke-RestMethod -UseBasicParsing ${url})` : `(curl.exe ${curl(keyPin)} ${url} | Out-String)`;
  const words = `-ServerUrl ${powershellWord(serverUrl)} -Token ${powershellWord(token)}`;
  return {
    linux: shell,
    macos: shell,
    windows: `& ([scriptblock]::Create(${fetched})) ${words}${signsRequests ? " -SignRequests" : ""}`,
  };
}
