import type { ReactElement } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import type { HostProfile } from "../../../../api/hosts/host-mdm.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, request, useOutdate } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { Badge, type Tone } from "../../../parts/badge.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { may } from "../../../session.ts";

const states: Readonly<Record<HostProfile["status"], { readonly order: number; readonly tone: Tone }>> = {
  failed: { order: 0, tone: "bad" },
  pending: { order: 1, tone: "note" },
  verifying: { order: 2, tone: "quiet" },
  verified: { order: 3, tone: "good" },
};

/** The configuration profiles of the host, those that failed first, with the reason. */
export function ProfilesTab({ host }: { readonly host: Host }): ReactElement {
  const outdate = useOutdate();
  const profiles = (host.mdm.profiles ?? []).toSorted((a, b) => states[a.status].order - states[b.status].order);
  const resend = async ({ profile_uuid, name }: HostProfile) => {
    try {
      const params = { id: String(host.id), profile_uuid };
      await request(() => client.call(profilesApi.resend, { params }));
      notifyDone(`${name} will be sent again.`);
      await outdate(hostsApi.get);
    } catch (error) {
      notifyFailed(error);
    }
  };
  return (
    <SmallTable
      name="Profiles"
      rows={profiles}
      keyOf={({ profile_uuid, operation_type }) => `${profile_uuid} ${operation_type}`}
      columns={[
        { name: "Name", cell: ({ name }) => name },
        {
          name: "Status",
          cell: ({ status, operation_type }) => (
            <Badge tone={states[status].tone}>
              {operation_type === "remove" && "removal "}
              {status}
            </Badge>
          ),
        },
        { name: "Reason", cell: ({ detail }) => detail },
        {
          name: "Action",
          cell: (profile) =>
            may("profiles:resend", host.team_id) &&
            profile.operation_type === "install" &&
            profile.status !== "pending" && (
              <button
                type="button"
                className="plain small"
                aria-label={`Resend ${profile.name}`}
                onClick={() => void resend(profile)}
              >
                Resend
              </button>
            ),
        },
      ]}
      empty={host.mdm.connected_to_svc ? "This host has no profiles." : "Device management is off on this host."}
    />
  );
}
