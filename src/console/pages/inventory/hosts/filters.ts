import { labelsApi } from "../../../../api/hosts/labels.ts";
import { client, request } from "../../../api.ts";
import type { Filter } from "../../../parts/list/definition.ts";

const named = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([value, label]) => ({ value, label }));

export const hostFilters: readonly Filter[] = [
  {
    name: "status",
    label: "Status",
    options: named({
      online: "online",
      offline: "offline",
      missing: "offline for 30 days or more",
      new: "enrolled within a day",
    }),
  },
  {
    name: "label_id",
    label: "Label",
    options: async () => {
      const { labels } = await request(() => client.call(labelsApi.summary));
      return labels.map(({ id, name }) => ({ value: String(id), label: name }));
    },
  },
  {
    name: "mdm_enrollment_status",
    label: "Device management",
    options: named({
      manual: "on (manual)",
      automatic: "on (automatic)",
      enrolled: "on",
      pending: "pending",
      unenrolled: "off",
    }),
  },
  {
    name: "os_settings",
    label: "Profiles",
    options: named({ verified: "verified", verifying: "verifying", pending: "pending", failed: "failed" }),
  },
  {
    name: "os_settings_disk_encryption",
    label: "Disk encryption",
    options: named({
      verified: "verified",
      verifying: "verifying",
      action_required: "action required",
      enforcing: "enforcing",
      failed: "failed",
      removing_enforcement: "removing enforcement",
    }),
  },
  { name: "low_disk_space", label: "Less free disk space than (GB)" },
  { name: "policy_id", label: "Policy (id)" },
  { name: "policy_response", label: "Policy's result", options: named({ passing: "passing", failing: "failing" }) },
  { name: "software_title_id", label: "Software (id of the title)" },
  {
    name: "software_status",
    label: "Installation of the software",
    options: named({
      installed: "installed by this server",
      pending: "pending",
      failed: "failed",
      pending_install: "waiting to be installed",
      failed_install: "installation failed",
      pending_uninstall: "waiting to be removed",
      failed_uninstall: "removal failed",
    }),
  },
  { name: "software_version_id", label: "Software (id of the version)" },
  { name: "vulnerability", label: "Vulnerability" },
  { name: "os_version_id", label: "Operating system (id of the version)" },
];
