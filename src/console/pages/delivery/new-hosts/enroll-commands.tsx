import type { ReactElement } from "react";
import type { EnrollToken } from "../../../../api/delivery/new-hosts.ts";
import { Copyable } from "../../../parts/as-command.tsx";
import { Time } from "../../../parts/time.tsx";

const platforms: readonly { readonly key: keyof EnrollToken["commands"]; readonly label: string }[] = [
  { key: "linux", label: "Linux, in a terminal" },
  { key: "macos", label: "macOS, in the Terminal" },
  { key: "windows", label: "Windows, in a PowerShell that was started as administrator" },
];

/** The commands with a new token. */
export function EnrollCommands({ token }: { readonly token: EnrollToken }): ReactElement {
  const { commands, expires_at, agent_sha256 } = token;
  return (
    <>
      {agent_sha256 === null ? (
        <p role="alert" className="message bad">
          This server has no file of the agent, because it was not built. Run npm run build where it is installed.
        </p>
      ) : (
        <p role="alert" className="message good">
          Copy the command now: it is shown only once. Any number of computers can use it until{" "}
          <Time value={expires_at} />.
        </p>
      )}
      {platforms.map(({ key, label }) => (
        <Copyable key={key} label={label} text={commands[key]} />
      ))}
      {agent_sha256 !== null && (
        <p className="small quiet">
          SHA-256 of the <a href="/enroll/agent.mjs">agent</a>: <code>{agent_sha256}</code>
        </p>
      )}
    </>
  );
}
