import type { ReactElement } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { bytes } from "../../../parts/bytes.ts";
import { Facts } from "../../../parts/facts.tsx";
import { Time } from "../../../parts/time.tsx";
import { AccessCard } from "./access-card.tsx";
import { DiskKey } from "./disk-key.tsx";
import { OnlineCard } from "./online-card.tsx";

export function DetailsTab({ host }: { readonly host: Host }): ReactElement {
  return (
    <div className="grid">
      <section className="card" aria-labelledby="about">
        <h2 id="about">About</h2>
        <Facts facts={aboutFacts(host)} />
      </section>
      <section className="card" aria-labelledby="hardware">
        <h2 id="hardware">Hardware</h2>
        <Facts facts={hardwareFacts(host)} />
      </section>
      <section className="card" aria-labelledby="management">
        <h2 id="management">Device management</h2>
        <Facts facts={managementFacts(host)} />
        <DiskKey host={host} />
      </section>
      <OnlineCard hostId={host.id} />
      <AccessCard host={host} />
    </div>
  );
}

type FactList = Parameters<typeof Facts>[0]["facts"];

function aboutFacts(host: Host): FactList {
  const users = (host.users ?? []).map(({ username }) => username).join(", ");
  const owners = (host.end_users ?? [])
    .flatMap(({ idp_username, other_emails }) => [idp_username, ...other_emails.map(({ email }) => email)])
    .filter((name) => name !== "")
    .join(", ");
  return [
    ["Operating system", host.os_version],
    ["Platform", host.platform],
    ["Team", host.team_name],
    ["Hostname", host.hostname],
    ["Assigned to", owners],
    ["Local users", users],
    ["Labels", <Labels key="labels" host={host} />],
    ["Enrolled", <Time key="enrolled" value={host.last_enrolled_at} />],
    ["Details fetched", <Time key="fetched" value={host.detail_updated_at} />],
    ["Last restart", <Time key="restart" value={host.last_restarted_at} none="not known" />],
    ["Query engine", host.qengine_version],
    ["Agent", host.agent_version],
    ["UUID", host.uuid],
    [
      "Location",
      host.geolocation && [host.geolocation.city_name, host.geolocation.country_iso].filter(Boolean).join(", "),
    ],
    ["Maintenance window", host.maintenance_window?.starts_at],
  ];
}

function Labels({ host }: { readonly host: Host }): ReactElement {
  const labels = (host.labels ?? []).filter(({ name }) => name !== "All Hosts");
  if (labels.length === 0) return <span className="quiet">none</span>;
  return (
    <ul className="inline-list">
      {labels.map(({ id, name }) => (
        <li key={id}>
          <PageLink href="/hosts" query={{ label_id: id }}>
            {name}
          </PageLink>
        </li>
      ))}
    </ul>
  );
}

function hardwareFacts(host: Host): FactList {
  const disk =
    host.gigs_total_disk_space > 0 &&
    `${host.gigs_disk_space_available} of ${host.gigs_total_disk_space} GB free (${host.percent_disk_space_available} %)`;
  return [
    ["Model", [host.hardware_vendor, host.hardware_model].filter(Boolean).join(" ")],
    ["Serial number", host.hardware_serial],
    ["Processor", host.cpu_brand],
    ["Memory", host.memory > 0 ? bytes(host.memory) : null],
    ["Disk", disk || null],
    ["Private address", host.primary_ip],
    ["Public address", host.public_ip],
    ["MAC address", host.primary_mac],
    ["Battery", (host.batteries ?? []).map(({ health, cycle_count }) => `${health}, ${cycle_count} cycles`).join("; ")],
  ];
}

function managementFacts({ mdm, disk_encryption_enabled: encrypted }: Host): FactList {
  const settings = mdm.os_settings;
  return [
    ["Enrollment", mdm.enrollment_status ?? "Off"],
    ["Product", mdm.name],
    ["Server", mdm.server_url],
    ["Disk encryption", encrypted === undefined || encrypted === null ? "not known" : encrypted ? "on" : "off"],
    ["Encryption setting", settings?.disk_encryption.status?.replaceAll("_", " ")],
    ["Recovery lock", settings?.recovery_lock_password?.status],
    ["Managed account", settings?.managed_local_account?.status],
    ["Name of the host", settings?.host_name_template?.status],
    [
      "Update deadline",
      settings?.os_update &&
        `${settings.os_update.minimum_version || "newest version"} by ${settings.os_update.deadline}: ${settings.os_update.status}`,
    ],
    ["Bootstrap package", mdm.macos_setup?.bootstrap_package_status],
  ];
}
