import { type ReactElement, useMemo } from "react";
import { type ConfigurationProfile, type ProfileHost, profilesApi } from "../../../../api/devices/profiles.ts";
import { client, request, useRead } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { counted } from "../../../parts/counted.ts";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { may } from "../../../session.ts";
import type { OpenProfileDialog } from "./open-dialog.ts";
import { profileStates, profileTones } from "./states.ts";
import { useOutdateProfiles } from "./use-outdate-profiles.ts";

interface ProfileHostsProps {
  readonly profile: ConfigurationProfile;
  readonly open: (dialog: OpenProfileDialog) => void;
}

/** The hosts of the profile with its state on each; those on which it has failed can get it again. */
export function ProfileHosts({ profile, open }: ProfileHostsProps): ReactElement {
  const { profile_uuid, name, team_id } = profile;
  const outdate = useOutdateProfiles();
  const counts = useRead(profilesApi.status, { params: { profile_uuid } }, { isLive: true }).data;
  const mayResend = may("profiles:resend", roleTeam(team_id));
  const definition = useMemo(() => {
    const resend = async ({ id, display_name }: ProfileHost) => {
      try {
        await request(() => client.call(profilesApi.resend, { params: { id, profile_uuid } }));
        notifyDone(`${name} will be sent to ${display_name} again.`);
        await outdate();
      } catch (error) {
        notifyFailed(error);
      }
    };
    return hostsOf(profile_uuid, mayResend ? (host) => void resend(host) : null);
  }, [profile_uuid, name, mayResend, outdate]);
  const failed = counts?.failed ?? 0;
  return (
    <>
      {mayResend && failed > 0 && (
        <p className="buttons">
          <button type="button" aria-haspopup="dialog" onClick={() => open({ name: "resend", profile })}>
            Resend to {counted(failed, "failed host")}
          </button>
        </p>
      )}
      <List definition={definition} />
    </>
  );
}

const hostsOf = (
  profile_uuid: string,
  onResend: ((host: ProfileHost) => void) | null,
): ListDefinition<typeof profilesApi.hosts, ProfileHost> => ({
  name: "Hosts",
  thing: "host",
  endpoint: profilesApi.hosts,
  params: { profile_uuid },
  hasTeams: false,
  rowsOf: ({ hosts }) => hosts,
  defaultOrder: { key: "display_name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ display_name }) => display_name,
  hrefOf: ({ id }) => `/hosts/${id}/profiles`,
  columns: [
    { id: "name", name: "Name", order: "display_name", cell: ({ display_name }) => display_name },
    {
      id: "status",
      name: "State",
      order: "status",
      cell: ({ status, operation_type }) => (
        <Badge tone={profileTones[status]}>
          {operation_type === "remove" && "removal "}
          {status}
        </Badge>
      ),
    },
    { id: "reason", name: "Reason", cell: ({ detail }) => <span title={detail}>{detail}</span> },
    {
      id: "action",
      name: "Action",
      cell: (host) =>
        onResend !== null &&
        host.operation_type === "install" &&
        (host.status === "failed" || host.status === "verified") && (
          <button
            type="button"
            className="plain small"
            aria-label={`Resend to ${host.display_name}`}
            onClick={() => onResend(host)}
          >
            Resend
          </button>
        ),
    },
  ],
  filters: [{ name: "status", label: "State", options: profileStates.map((value) => ({ value, label: value })) }],
  command: `mdm profiles hosts ${profile_uuid}`,
  empty: <p>No host has this profile or is about to get it.</p>,
});
