import type { ConfigurationProfile, ProfileStatus } from "../../../../api/devices/profiles.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { formatted } from "../../../parts/counted.ts";
import { scopeText } from "../../../parts/label-scope/scope.ts";
import type { Column } from "../../../parts/list/definition.ts";
import { roleTeam } from "../../../parts/one-team.tsx";
import { platformName } from "../../../parts/platforms.ts";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import type { OpenProfileDialog } from "./open-dialog.ts";
import { profileHref } from "./profile-href.ts";

const titles: Readonly<Record<ProfileStatus, string>> = {
  failed: "Failed",
  pending: "Pending",
  verifying: "Verifying",
  verified: "Verified",
};

/** A number of hosts, which opens these hosts with the reason. */
function HostCount({ profile, status }: { readonly profile: ConfigurationProfile; readonly status: ProfileStatus }) {
  const count = profile.host_counts?.[status] ?? 0;
  if (count === 0) return <>0</>;
  return (
    <PageLink href={profileHref(profile)} query={{ status }} aria-label={`${profile.name}, ${status}: ${count}`}>
      {formatted(count)}
    </PageLink>
  );
}

const countColumn = (status: ProfileStatus): Column<ConfigurationProfile> => ({
  id: status,
  name: titles[status],
  isNumber: true,
  cell: (profile) => <HostCount profile={profile} status={status} />,
});

/** Profiles for Apple devices are for all of their platforms. */
export const platformOf = ({ platform }: Pick<ConfigurationProfile, "platform">): string =>
  platform === "darwin" ? "Apple" : platformName(platform);

export const profileColumns = (open: (dialog: OpenProfileDialog) => void): readonly Column<ConfigurationProfile>[] => [
  { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
  { id: "platform", name: "Platform", cell: platformOf },
  countColumn("failed"),
  countColumn("pending"),
  countColumn("verifying"),
  countColumn("verified"),
  { id: "labels", name: "Labels", cell: (profile) => scopeText(profile) || "all hosts" },
  { id: "identifier", name: "Identifier", isOptional: true, cell: ({ identifier }) => identifier },
  { id: "uploaded", name: "Uploaded", order: "uploaded_at", cell: ({ uploaded_at }) => <Time value={uploaded_at} /> },
  {
    id: "created",
    name: "Created",
    order: "created_at",
    isOptional: true,
    cell: ({ created_at }) => <Time value={created_at} />,
  },
  { id: "actions", name: "Actions", cell: (profile) => <RowActions profile={profile} open={open} /> },
];

interface RowActionsProps {
  readonly profile: ConfigurationProfile;
  readonly open: (dialog: OpenProfileDialog) => void;
}

function RowActions({ profile, open }: RowActionsProps) {
  const teamId = roleTeam(profile.team_id);
  return (
    <span className="buttons">
      {may("profiles:resend", teamId) && (profile.host_counts?.failed ?? 0) > 0 && (
        <button
          type="button"
          className="plain small"
          aria-haspopup="dialog"
          aria-label={`Resend ${profile.name}`}
          onClick={() => open({ name: "resend", profile })}
        >
          Resend
        </button>
      )}
      {may("profiles:write", teamId) && (
        <button
          type="button"
          className="danger small"
          aria-haspopup="dialog"
          aria-label={`Delete ${profile.name}`}
          onClick={() => open({ name: "delete", profile })}
        >
          Delete
        </button>
      )}
    </span>
  );
}
