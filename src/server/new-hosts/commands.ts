// The commands that people copy to install the agent on a new host.
import type { AgentPlatform } from "../../api/new-hosts.ts";
import { powershellWord, shellWord } from "../../text/shell.ts";

export function enrollCommands(serverUrl: string, token: string): Record<AgentPlatform, string> {
  const shell = `curl -fsSL ${shellWord(`${serverUrl}/enroll/enroll.sh`)} | sudo sh -s -- --server-url ${shellWord(serverUrl)} --token ${shellWord(token)}`;
  const script = `(Invoke-RestMethod -UseBasicParsing ${powershellWord(`${serverUrl}/enroll/enroll.ps1`)})`;
  return {
    linux: shell,
    macos: shell,
    windows: `& ([scriptblock]::Create(${script})) -ServerUrl ${powershellWord(serverUrl)} -Token ${powershellWord(token)}`,
  };
}
