import type { ReactElement } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { Time } from "../../../parts/time.tsx";
import { Attention } from "../host-details/attention.tsx";
import { HostActions } from "../host-details/host-actions.tsx";

/** A host beside the list: what it is, what needs doing, the policies that it fails, and the rest as links. */
export function HostPanel({ id }: { readonly id: string }): ReactElement {
  const input = { params: { id }, query: { exclude_software: true } };
  const reply = useRead(hostsApi.get, input, { isLive: true });
  return (
    <Read from={reply} what="host">
      {({ host }) => (
        <>
          <div className="page-head">
            <h2>
              <PageLink href={`/hosts/${id}`}>{host.display_name || `Host ${id}`}</PageLink>
            </h2>
            <HostActions host={host} />
          </div>
          <Attention host={host} />
          <Facts facts={factsOf(host)} />
          <FailingPolicies host={host} />
          <ul className="inline-list">
            {["policies", "software", "profiles", "scripts", "activity"].map((tab) => (
              <li key={tab}>
                <PageLink href={`/hosts/${id}/${tab}`}>{tab[0]!.toUpperCase() + tab.slice(1)}</PageLink>
              </li>
            ))}
          </ul>
        </>
      )}
    </Read>
  );
}

const factsOf = (host: Host): Parameters<typeof Facts>[0]["facts"] => [
  [
    "Status",
    <>
      <Badge tone={host.status === "online" ? "good" : "quiet"}>{host.status}</Badge>{" "}
      <span className="quiet">
        seen <Time value={host.seen_time} />
      </span>
    </>,
  ],
  ["Operating system", host.os_version],
  ["Team", host.team_name],
  ["Users", (host.end_users ?? []).map(({ idp_username }) => idp_username).join(", ")],
  ["Labels", labelsOf(host)],
  ["Serial number", host.hardware_serial],
  ["Private address", host.primary_ip],
  ["Device management", host.mdm.enrollment_status ?? "Off"],
];

const labelsOf = ({ labels = [] }: Host): string =>
  labels
    .filter(({ label_type }) => label_type === "regular")
    .map(({ name }) => name)
    .join(", ");

function FailingPolicies({ host: { policies = [] } }: { readonly host: Host }): ReactElement {
  const failing = policies.filter(({ response }) => response === "fail");
  if (failing.length === 0) return <p className="quiet">No policy fails.</p>;
  return (
    <section aria-label="Failing policies">
      <h3>Failing policies</h3>
      <ul>
        {failing.map(({ id, name, resolution }) => (
          <li key={id}>
            <PageLink href={`/policies/${id}`}>{name}</PageLink>
            {resolution && <p className="hint">{resolution}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
