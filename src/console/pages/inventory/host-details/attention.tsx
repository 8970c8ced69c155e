import type { ReactElement } from "react";
import type { Host } from "../../../../api/hosts/host.ts";

/** What needs doing: what is pending, and what has failed. */
export function Attention({
  host: { mdm, agent_conflict, refetch_requested },
}: {
  readonly host: Host;
}): ReactElement | null {
  const texts = [
    mdm.device_status === "unlocked" ? "" : `This host is ${mdm.device_status}.`,
    mdm.pending_action === "" ? "" : `A ${mdm.pending_action} is pending.`,
    mdm.unenroll_pending ? "Device management is turned off when the device answers." : "",
    mdm.action_failure === undefined ? "" : `The last action failed: ${mdm.action_failure}`,
    agent_conflict === undefined ? "" : `Its agent was copied to another machine, at ${agent_conflict.address}.`,
    refetch_requested ? "Its details are being fetched." : "",
  ].filter((text) => text !== "");
  return texts.length === 0 ? null : (
    <div role="status" className="message note">
      {texts.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
}
