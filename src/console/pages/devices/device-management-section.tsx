import type { ReactElement } from "react";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { isPremium, may } from "../../session.ts";
import { VppTab } from "../delivery/vpp/vpp-tab.tsx";
import { ConfigPart } from "../settings/app-config/config-part.tsx";
import { ConfigCommand } from "../settings/app-config/config-section.tsx";
import { SectionPage } from "../settings/section-page.tsx";
import { AbmTab } from "./abm/abm-tab.tsx";
import { AndroidTab } from "./android/android-tab.tsx";
import { AppleTab } from "./apple-trust/apple-tab.tsx";

/** What connects this server with the vendors of devices, and how devices enroll. */
export default function DeviceManagementSection(): ReactElement {
  return (
    <SectionPage id="device-management" actions={<ConfigCommand id="windows-devices" />}>
      <UrlTabs
        label="Device management"
        tabs={[
          { id: "apple", name: "Apple", content: () => <AppleTab /> },
          ...(may("abm:read", null)
            ? [
                {
                  id: "business-portal",
                  name: "Business portal",
                  content: () => (isPremium() ? <AbmTab /> : <Premium />),
                },
              ]
            : []),
          ...(may("vpp:read", null)
            ? [{ id: "app-licenses", name: "App licenses", content: () => (isPremium() ? <VppTab /> : <Premium />) }]
            : []),
          {
            id: "windows",
            name: "Windows",
            content: () => <ConfigPart id="windows-devices" name="Windows" />,
          },
          ...(may("mdm:trust", null) ? [{ id: "android", name: "Android", content: () => <AndroidTab /> }] : []),
          { id: "end-users", name: "End users", content: () => <EndUsers /> },
        ]}
      />
    </SectionPage>
  );
}

const Premium = (): ReactElement => (
  <p>Premium: devices of the organization enroll automatically, and apps of the store are licensed for teams.</p>
);

const EndUsers = (): ReactElement => (
  <>
    <p>
      Users of devices sign in with this identity provider: when their device enrolls, if the team requires it, and on
      the pages of their device.
    </p>
    <ConfigPart id="end-users" name="End users" />
  </>
);
