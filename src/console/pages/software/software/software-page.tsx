import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { Page } from "../../../frame/page.tsx";
import { List } from "../../../parts/list/list-page.tsx";
import { useTeamsWith } from "../../../parts/one-team.tsx";
import { UrlTabs } from "../../../parts/url-tabs.tsx";
import { isPremium, maySomewhere } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";
import { CatalogueTab } from "../catalogue/catalogue-tab.tsx";
import { vulnerabilities } from "../vulnerabilities/vulnerability-list.tsx";
import { osVersions, titlesOf, versions } from "./software-lists.tsx";

const AddSoftwareDialog = lazy(() => import("../packages/add-software-dialog.tsx"));
const CategoriesDialog = lazy(() => import("../packages/categories-dialog.tsx"));

/** What is installed on hosts, what is wrong with it, and what teams offer. */
export default function SoftwarePage(): ReactElement {
  const [dialog, setDialog] = useState<"add" | "categories" | null>(null);
  const close = () => setDialog(null);
  const teamId = useTeamId();
  const titles = useMemo(() => titlesOf(teamId), [teamId]);
  const categoryTeams = useTeamsWith("categories:write");
  const categoryTeam = categoryTeams.find(({ id }) => id === teamId);
  const buttons = isPremium() && (
    <>
      {categoryTeam !== undefined && (
        <button type="button" className="plain" onClick={() => setDialog("categories")}>
          Categories
        </button>
      )}
      {maySomewhere("packages:write") && (
        <button type="button" onClick={() => setDialog("add")}>
          Add software
        </button>
      )}
    </>
  );
  return (
    <Page title="Software" actions={buttons}>
      <UrlTabs
        label="Software"
        tabs={[
          { id: "titles", name: "Titles", content: () => <List definition={titles} /> },
          { id: "versions", name: "Versions", content: () => <List definition={versions} /> },
          { id: "os", name: "Operating systems", content: () => <List definition={osVersions} /> },
          { id: "vulnerabilities", name: "Vulnerabilities", content: () => <List definition={vulnerabilities} /> },
          ...(isPremium() ? [{ id: "catalogue", name: "Catalogue", content: () => <CatalogueTab /> }] : []),
        ]}
      />
      <Suspense>
        {dialog === "add" && <AddSoftwareDialog onClose={close} />}
        {dialog === "categories" && categoryTeam !== undefined && (
          <CategoriesDialog team={categoryTeam} onClose={close} />
        )}
      </Suspense>
    </Page>
  );
}
