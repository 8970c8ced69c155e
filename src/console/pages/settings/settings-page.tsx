import { type ComponentType, lazy, type ReactElement, Suspense } from "react";
import { useParams } from "wouter";
import { Page } from "../../frame/page.tsx";
import { PageLink } from "../../frame/page-link.tsx";
import { TokensSection } from "../accounts/tokens/tokens-section.tsx";
import { UserItem } from "../accounts/users/user-item.tsx";
import { UsersSection } from "../accounts/users/users-section.tsx";
import { ConfigSection } from "./app-config/config-section.tsx";
import { EnrollSecretsSection } from "./enroll-secrets/enroll-secrets-section.tsx";
import { SectionPage } from "./section-page.tsx";
import { mayOpen, ownSections, type SectionId, sections } from "./sections.ts";
import { TeamsSection } from "./teams/teams-section.tsx";

const AgentsSection = lazy(() => import("./agents/agents-section.tsx"));
const CarvesSection = lazy(() => import("../checks/carves/carves-section.tsx"));
const AuthoritiesSection = lazy(() => import("../certificates/authorities/authorities-section.tsx"));
const WebhooksSection = lazy(() => import("../automations/webhooks/webhooks-section.tsx"));
const DeviceManagementSection = lazy(() => import("../devices/device-management-section.tsx"));
const IntegrationsSection = lazy(() => import("./integrations/integrations-section.tsx"));
const JobsSection = lazy(() => import("../platform/jobs/jobs-section.tsx"));
const LicenseSection = lazy(() => import("./license/license-section.tsx"));
const RolesSection = lazy(() => import("../accounts/users/roles-section.tsx"));
const MailSection = lazy(() => import("./mail/mail-section.tsx"));

const contents: Readonly<Record<SectionId, ComponentType>> = {
  organization: () => <ConfigSection id="organization" />,
  "sign-in": () => <ConfigSection id="sign-in" />,
  users: UsersSection,
  roles: RolesSection,
  teams: TeamsSection,
  "enroll-secrets": EnrollSecretsSection,
  tokens: TokensSection,
  agents: AgentsSection,
  "device-management": DeviceManagementSection,
  mail: MailSection,
  integrations: IntegrationsSection,
  authorities: AuthoritiesSection,
  "host-expiry": () => <ConfigSection id="host-expiry" />,
  "activity-expiry": () => <ConfigSection id="activity-expiry" />,
  "gitops-mode": () => <ConfigSection id="gitops-mode" />,
  webhooks: WebhooksSection,
  carves: CarvesSection,
  jobs: JobsSection,
  license: LicenseSection,
};

/** The pages of single objects, at `/settings/SECTION/ID`. */
const items: Readonly<Partial<Record<SectionId, ComponentType<{ readonly id: number }>>>> = { users: UserItem };

/** The settings, of which each section is a page of its own. Without a section in the path: the first one. */
export default function SettingsPage(): ReactElement {
  const { section: id, id: item } = useParams<{ section?: string; id?: string }>();
  const section = id === undefined ? ownSections()[0] : sections.find((candidate) => candidate.id === id);
  if (section === undefined)
    return (
      <Page title={id === undefined ? "Settings" : "This section does not exist"}>
        {id === undefined ? (
          <p>Your role may open no section of the settings.</p>
        ) : (
          <p>
            The sections are listed in the <PageLink href="/settings">settings</PageLink>.
          </p>
        )}
      </Page>
    );
  if (!mayOpen(section))
    return (
      <Page title={section.name} breadcrumb={[{ name: "Settings", href: "/settings" }]}>
        <p>
          Your role does not allow this: it needs the action <code>{section.action}</code>.
        </p>
      </Page>
    );
  if (item !== undefined) return <SectionItem section={section.id} item={item} />;
  const Content = contents[section.id];
  return (
    <Suspense fallback={<LoadingSection id={section.id} />}>
      <Content key={section.id} />
    </Suspense>
  );
}

const LoadingSection = ({ id }: { readonly id: SectionId }): ReactElement => (
  <SectionPage id={id}>
    <p className="loading">Loading</p>
  </SectionPage>
);

interface SectionItemProps {
  readonly section: SectionId;
  readonly item: string;
}

function SectionItem({ section, item }: SectionItemProps): ReactElement {
  const Item = items[section];
  if (Item !== undefined && /^[1-9]\d{0,14}$/.test(item)) return <Item key={item} id={Number(item)} />;
  return (
    <Page title="This page does not exist">
      <p>Nothing is at this address.</p>
    </Page>
  );
}
