import type { ReactElement } from "react";
import { Page } from "../../../frame/page.tsx";
import { List } from "../../../parts/list/list-page.tsx";
import { UrlTabs } from "../../../parts/url-tabs.tsx";
import { vulnerabilities } from "../vulnerabilities/vulnerability-list.tsx";
import { osVersions, titles, versions } from "./software-lists.tsx";

/** What is installed on hosts, and what is wrong with it. */
export default function SoftwarePage(): ReactElement {
  return (
    <Page title="Software">
      <UrlTabs
        label="Software"
        tabs={[
          { id: "titles", name: "Titles", content: () => <List definition={titles} /> },
          { id: "versions", name: "Versions", content: () => <List definition={versions} /> },
          { id: "os", name: "Operating systems", content: () => <List definition={osVersions} /> },
          { id: "vulnerabilities", name: "Vulnerabilities", content: () => <List definition={vulnerabilities} /> },
        ]}
      />
    </Page>
  );
}
