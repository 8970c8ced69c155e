import { type ReactElement, type ReactNode, useState } from "react";
import { invitesApi } from "../../../../api/accounts/invites.ts";
import { usersApi } from "../../../../api/accounts/users.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { useRead } from "../../../api.ts";
import { Page } from "../../../frame/page.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { counted } from "../../../parts/counted.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { may } from "../../../session.ts";
import { InviteDialog } from "../../accounts/users/invite-dialog.tsx";
import { OrganizationForm } from "./organization-form.tsx";

/** What is left to do on a new server, after its first administrator was created. */
export default function WelcomePage(): ReactElement {
  return (
    <Page title="Welcome" actions={<PageLink href="/">Continue to the dashboard</PageLink>}>
      <p>Three steps, in any order. You can do all of this later too.</p>
      <ol className="steps">
        {may("config:write", null) && <OrganizationStep />}
        <HostsStep />
        {may("invites:write", null) && <ColleagueStep />}
      </ol>
    </Page>
  );
}

interface StepProps {
  readonly title: string;
  /** Undefined while it is not known. */
  readonly isDone: boolean | undefined;
  readonly children: ReactNode;
}

const Step = ({ title, isDone, children }: StepProps): ReactElement => (
  <li className="card">
    <div className="card-head">
      <h2>{title}</h2>
      {isDone !== undefined && <Badge tone={isDone ? "good" : "note"}>{isDone ? "done" : "to do"}</Badge>}
    </div>
    {children}
  </li>
);

function OrganizationStep(): ReactElement {
  const config = useRead(appConfigApi.get);
  const { org_info, server_settings } = config.data ?? {};
  const isDone =
    config.data === undefined ? undefined : org_info?.org_name !== "" && server_settings?.server_url !== "";
  return (
    <Step title="Name the organization and this server" isDone={isDone}>
      <Read from={config} what="configuration">
        {(current) => (
          <OrganizationForm
            key={`${current.org_info.org_name} ${current.server_settings.server_url}`}
            name={current.org_info.org_name}
            serverUrl={current.server_settings.server_url}
          />
        )}
      </Read>
    </Step>
  );
}

function HostsStep(): ReactElement {
  const hosts = useRead(hostsApi.count, {}, { isLive: true });
  const count = hosts.data?.count;
  return (
    <Step title="Add the first host" isDone={count === undefined ? undefined : count > 0}>
      <Read from={hosts} what="hosts">
        {(reply) => (
          <p>
            {reply.count === 0
              ? "A command installs the agent on a computer and enrolls it. The host is here when it has enrolled."
              : `${counted(reply.count, "host")} enrolled.`}
          </p>
        )}
      </Read>
      {may("enroll_secrets:read", null) && (
        <p>
          <PageLink href="/hosts/new">Add hosts</PageLink>
        </p>
      )}
    </Step>
  );
}

function ColleagueStep(): ReactElement {
  const [isInviting, setInviting] = useState(false);
  const users = useRead(usersApi.list, { query: { per_page: 2 } });
  const invites = useRead(invitesApi.list, { query: { per_page: 1 } });
  const isKnown = users.data !== undefined && invites.data !== undefined;
  const isDone = isKnown ? users.data.users.length > 1 || invites.data.invites.length > 0 : undefined;
  return (
    <Step title="Invite a colleague" isDone={isDone}>
      <p>A second administrator can help when you are away, and approves what needs two people.</p>
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setInviting(true)}>
        Invite user
      </button>
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
    </Step>
  );
}
