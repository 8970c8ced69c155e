import type { ReactElement } from "react";
import { Page } from "../../../frame/page.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { isPremium, maySomewhere, session } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";
import { ActivityCard } from "./activity-card.tsx";
import { ApprovalsCard } from "./approvals-card.tsx";
import { CriticalHistoryCard, OnlineHistoryCard } from "./charts-cards.tsx";
import { HostsCard } from "./hosts-card.tsx";
import { ManagementCard, ProfilesCard } from "./management-cards.tsx";
import { PoliciesCard } from "./policies-card.tsx";
import { OsVersionsCard, VulnerabilitiesCard } from "./software-cards.tsx";

/** What there is and what needs doing. Every figure opens its list. */
export default function DashboardPage(): ReactElement {
  const seesHosts = maySomewhere("hosts:list");
  // The summary of profiles is that of one team, or of the hosts without one.
  const hasTeam = useTeamId() !== null || session.data.user.global_role !== null;
  return (
    <Page title="Dashboard">
      {!seesHosts && (
        <p className="card">
          Your role does not allow you to see hosts. Continue to <PageLink href="/profile">your account</PageLink>.
        </p>
      )}
      <div className="columns">
        {seesHosts && <HostsCard />}
        {seesHosts && <OnlineHistoryCard />}
        {isPremium() && <ApprovalsCard />}
        {maySomewhere("policies:list") && <PoliciesCard />}
        {maySomewhere("mdm:read") && <ManagementCard />}
        {hasTeam && maySomewhere("mdm:read") && <ProfilesCard />}
        {seesHosts && isPremium() && <CriticalHistoryCard />}
        {maySomewhere("software:list") && <VulnerabilitiesCard />}
        {maySomewhere("software:list") && <OsVersionsCard />}
      </div>
      {session.data.user.global_role !== null && maySomewhere("activities:list") && <ActivityCard />}
    </Page>
  );
}
