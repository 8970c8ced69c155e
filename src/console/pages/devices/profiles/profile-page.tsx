import { lazy, type ReactElement, Suspense, useState } from "react";
import { useParams } from "wouter";
import { type ConfigurationProfile, profilesApi } from "../../../../api/devices/profiles.ts";
import { fullPath } from "../../../../api/paths.ts";
import { shellArgument } from "../../../../text/shell.ts";
import { useRead } from "../../../api.ts";
import { Page } from "../../../frame/page.tsx";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Card } from "../../../parts/card.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { scopeText } from "../../../parts/label-scope/scope.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { Time } from "../../../parts/time.tsx";
import { UrlTabs } from "../../../parts/url-tabs.tsx";
import { isPremium, may } from "../../../session.ts";
import { useGo } from "../../../url.ts";
import { platformOf } from "./columns.tsx";
import type { OpenProfileDialog } from "./open-dialog.ts";
import { ProfileContent } from "./profile-content.tsx";
import { ProfileHosts } from "./profile-hosts.tsx";

const ProfileDialogs = lazy(() => import("./profile-dialogs.tsx"));

const breadcrumb = [{ name: "Controls", href: "/controls" }];

/** A configuration profile: its hosts with its state on each, and its content. */
export default function ProfilePage(): ReactElement {
  const { uuid = "" } = useParams<{ uuid: string }>();
  const reply = useRead(profilesApi.get, { params: { profile_uuid: uuid } }, { isLive: true });
  // The same endpoint returns files, if they are requested.
  const profile = reply.data !== undefined && "profile_uuid" in reply.data ? reply.data : null;
  const [dialog, setDialog] = useState<OpenProfileDialog | null>(null);
  const go = useGo();
  const close = (isDone: boolean) => {
    setDialog(null);
    if (isDone && dialog?.name === "delete") go("/controls");
  };
  return (
    <Page
      title={profile?.name ?? "Profile"}
      breadcrumb={breadcrumb}
      actions={profile !== null && <Actions profile={profile} open={setDialog} />}
    >
      <Read from={reply} what="profile">
        {() =>
          profile !== null && (
            <>
              <About profile={profile} />
              <UrlTabs
                label="Profile"
                tabs={[
                  {
                    id: "hosts",
                    name: "Hosts",
                    content: () => <ProfileHosts profile={profile} open={setDialog} />,
                  },
                  { id: "content", name: "Content", content: () => <ProfileContent profile={profile} /> },
                ]}
              />
            </>
          )
        }
      </Read>
      {dialog !== null && (
        <Suspense>
          <ProfileDialogs dialog={dialog} onClose={close} />
        </Suspense>
      )}
    </Page>
  );
}

interface ActionsProps {
  readonly profile: ConfigurationProfile;
  readonly open: (dialog: OpenProfileDialog) => void;
}

function Actions({ profile, open }: ActionsProps): ReactElement {
  const { profile_uuid, team_id } = profile;
  return (
    <>
      <AsCommand
        command={`svc mdm profiles get ${shellArgument(profile_uuid)}`}
        method="GET"
        path={fullPath(profilesApi.get).replace(":profile_uuid", profile_uuid)}
      />
      {may("profiles:write", roleTeam(team_id)) && (
        <>
          <button
            type="button"
            className="danger"
            aria-haspopup="dialog"
            onClick={() => open({ name: "delete", profile })}
          >
            Delete
          </button>
          {isPremium() && (
            <>
              <button
                type="button"
                className="plain"
                aria-haspopup="dialog"
                onClick={() => open({ name: "labels", profile })}
              >
                Edit labels
              </button>
              <button type="button" aria-haspopup="dialog" onClick={() => open({ name: "replace", profile })}>
                Replace
              </button>
            </>
          )}
        </>
      )}
    </>
  );
}

function About({ profile }: { readonly profile: ConfigurationProfile }): ReactElement {
  return (
    <Card title="About">
      <Facts
        facts={[
          ["Platform", platformOf(profile)],
          ["Identifier", profile.identifier],
          ["Labels", scopeText(profile) || "all hosts of the team"],
          ["Deleted labels", brokenLabels(profile)],
          ["Uploaded", <Time key="uploaded" value={profile.uploaded_at} />],
          ["SHA-256", <code key="checksum">{profile.checksum}</code>],
        ]}
      />
    </Card>
  );
}

/** A label that was deleted still limits the profile. */
const brokenLabels = (profile: ConfigurationProfile): string =>
  [profile.labels_include_any, profile.labels_include_all, profile.labels_exclude_any]
    .flatMap((labels) => labels ?? [])
    .filter(({ broken }) => broken === true)
    .map(({ name }) => `${name}: the profile goes to no further host`)
    .join("; ");
