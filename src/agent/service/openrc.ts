// The agent as a service of OpenRC, which Alpine and Gentoo use (openrc-run(8), supervise-daemon(8)).

import { quotedShellWord } from "../../text/shell.ts";
import type { ServiceFile } from "./service-plan.ts";

export const OPENRC_SCRIPT = "/etc/init.d/svc-agent";
export const OPENRC_LOG = "/var/log/svc-agent.log";

/** The shell reads the arguments a second time when the service starts, so that they are quoted twice. */
export function openrcScript([command, ...args]: readonly string[]): ServiceFile {
  const content = `#!/sbin/openrc-run
name=svc-agent
description="Agent of svc: inventory, queries and scripts of this machine"
supervisor=supervise-daemon
command=${quotedShellWord(quotedShellWord(command!))}
command_args=${quotedShellWord(args.map(quotedShellWord).join(" "))}
respawn_delay=5
respawn_max=0
output_log=${OPENRC_LOG}
error_log=${OPENRC_LOG}

depend() {
  use net dns
  after bootmisc firewall
}
`;
  return { path: OPENRC_SCRIPT, content, mode: 0o755 };
}
