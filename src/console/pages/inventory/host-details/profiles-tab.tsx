import type { ReactElement } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import type { HostProfile } from "../../../../api/hosts/host-mdm.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, request, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { useAction } from "../../../parts/action.ts";
import { Badge } from "../../../parts/badge.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { may } from "../../../session.ts";
import { profileHref } from "../../devices/profiles/profile-href.ts";
import { profileStates, profileTones } from "../../devices/profiles/states.ts";

const urgencyOf = ({ status }: HostProfile): number => profileStates.indexOf(status);

/** The configuration profiles of the host, those that failed first, with the reason. */
export function ProfilesTab({ host }: { readonly host: Host }): ReactElement {
  const outdate = useOutdate();
  const profiles = (host.mdm.profiles ?? []).toSorted((a, b) => urgencyOf(a) - urgencyOf(b));
  const resend = useAction(async ({ profile_uuid, name }: HostProfile) => {
    const params = { id: String(host.id), profile_uuid };
    await request(() => client.call(profilesApi.resend, { params }));
    notifyDone(`${name} will be sent again.`);
    await outdate(hostsApi.get);
  });
  return (
    <SmallTable
      name="Profiles"
      rows={profiles}
      keyOf={({ profile_uuid, operation_type }) => `${profile_uuid} ${operation_type}`}
      columns={[
        {
          name: "Name",
          cell: (profile) =>
            may("profiles:read", host.team_id) && profile.operation_type === "install" ? (
              <PageLink href={profileHref(profile)}>{profile.name}</PageLink>
            ) : (
              profile.name
            ),
        },
        {
          name: "Status",
          cell: ({ status, operation_type }) => (
            <Badge tone={profileTones[status]}>
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
                onClick={() => resend.run(profile)}
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
