import type { ReactElement } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import { hostDetailsApi } from "../../../../api/inventory/host-details.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Card } from "../../../parts/card.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { Bars } from "../../../parts/pictures/bars.tsx";
import { maySomewhere } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";

const useTeamQuery = () => {
  const teamId = useTeamId();
  return { query: teamId === null ? {} : { team_id: teamId } };
};

/** A number that opens the hosts that it counts. */
const bar = (title: string, count: number, query: Readonly<Record<string, string>>) => ({
  key: title,
  count,
  name: (
    <PageLink href="/hosts" query={query}>
      {title}
    </PageLink>
  ),
});

export function ManagementCard(): ReactElement {
  const reply = useRead(hostDetailsApi.mdmSummary, useTeamQuery());
  return (
    <Card title="Device management">
      <Read from={reply} what="device management">
        {({ mobile_device_management_enrollment_status: counts }) => (
          <Bars
            label="Hosts by enrollment"
            unit="Hosts"
            total={counts.hosts_count}
            bars={[
              bar("On (automatic)", counts.enrolled_automated_hosts_count, { mdm_enrollment_status: "automatic" }),
              bar("On (manual)", counts.enrolled_manual_hosts_count, { mdm_enrollment_status: "manual" }),
              bar("Off", counts.unenrolled_hosts_count, { mdm_enrollment_status: "unenrolled" }),
            ]}
            empty=""
          />
        )}
      </Read>
    </Card>
  );
}

export function ProfilesCard(): ReactElement {
  const reply = useRead(profilesApi.summary, useTeamQuery());
  return (
    <Card
      title="Profiles"
      {...(maySomewhere("profiles:read") ? { more: { name: "All profiles", href: "/controls" } } : {})}
    >
      <Read from={reply} what="profiles">
        {({ verified, verifying, pending, failed }) => (
          <Bars
            label="Hosts by the state of their profiles"
            unit="Hosts"
            total={verified + verifying + pending + failed}
            bars={[
              bar("Verified", verified, { os_settings: "verified" }),
              bar("Verifying", verifying, { os_settings: "verifying" }),
              bar("Pending", pending, { os_settings: "pending" }),
              bar("Failed", failed, { os_settings: "failed" }),
            ]}
            empty=""
          />
        )}
      </Read>
    </Card>
  );
}
