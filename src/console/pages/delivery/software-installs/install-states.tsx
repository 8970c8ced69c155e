import type { ReactElement } from "react";
import type { InstallCounts } from "../../../../api/software/packages.ts";
import type { HostSoftwareItem } from "../../../../api/software/software.ts";
import { Badge } from "../../../parts/badge.tsx";

/** The state of what this server last installed on a host, or removed from it. */
export const installStates: Readonly<Record<NonNullable<HostSoftwareItem["status"]>, ReactElement>> = {
  installed: <Badge tone="good">installed</Badge>,
  pending_install: <Badge tone="note">waiting to be installed</Badge>,
  failed_install: <Badge tone="bad">installation failed</Badge>,
  pending_uninstall: <Badge tone="note">waiting to be removed</Badge>,
  failed_uninstall: <Badge tone="bad">removal failed</Badge>,
};

/** The states that are counted, each of which opens its hosts. */
export const countedStates: readonly (readonly [state: keyof InstallCounts, name: string])[] = [
  ["installed", "Installed"],
  ["pending_install", "Waiting"],
  ["failed_install", "Failed"],
  ["pending_uninstall", "Waiting to be removed"],
  ["failed_uninstall", "Removal failed"],
];
