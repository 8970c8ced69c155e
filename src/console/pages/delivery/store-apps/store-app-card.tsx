import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import "../../software/packages/packages.css";
import { lazy, type ReactElement, Suspense, useState } from "react";
import type { StoreApp } from "../../../../api/software/store-app.ts";
import { Card } from "../../../parts/card.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { scopeText } from "../../../parts/label-scope/scope.ts";
import { platformName } from "../../../parts/platforms.ts";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import type { OfferedTitle } from "../../software/packages/offer.ts";
import { CountFacts, InstallPolicies } from "../../software/packages/offer-facts.tsx";

const EditStoreAppDialog = lazy(() => import("./edit-store-app-dialog.tsx"));
const OfferDialogs = lazy(() => import("../../software/packages/offer-dialogs.tsx"));

interface StoreAppCardProps {
  readonly title: OfferedTitle;
  readonly app: StoreApp;
  readonly teamId: number;
}

type OpenDialog = "edit" | "install" | "icon" | "policy" | "delete";

/** The app of a store that a team offers, and what can be done with it. */
export function StoreAppCard({ title, app, teamId }: StoreAppCardProps): ReactElement {
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const team = teamId || null;
  const mayWrite = may("packages:write", team);
  const isAndroid = app.platform === "android";
  const button = (name: OpenDialog, text: string, className = "plain") => (
    <button type="button" className={className} onClick={() => setDialog(name)}>
      {text}
    </button>
  );
  return (
    <Card title={isAndroid ? "Android app" : "App Store app"}>
      <About app={app} teamId={teamId} />
      <CountFacts titleId={title.id} teamId={teamId} counts={app.status} />
      {(app.configuration ?? "") !== "" && (
        <details className="script-text">
          <summary>Configuration</summary>
          <ScrollingText text={app.configuration ?? ""} />
        </details>
      )}
      <div className="package-buttons">
        {!isAndroid && may("software:install", team) && button("install", "Install", "")}
        {mayWrite && button("edit", "Edit")}
        {mayWrite && button("icon", "Icon")}
        {app.platform === "darwin" && may("policies:write", team) && button("policy", "Make policy")}
        {mayWrite && button("delete", "Delete", "danger")}
      </div>
      {dialog !== null && (
        <Suspense>
          {dialog === "edit" ? (
            <EditStoreAppDialog title={title} app={app} teamId={teamId} onClose={close} />
          ) : (
            <OfferDialogs
              name={dialog}
              title={title}
              teamId={teamId}
              offer={{ name: app.name, what: "app", platform: app.platform }}
              onClose={close}
            />
          )}
        </Suspense>
      )}
    </Card>
  );
}

function About({ app, teamId }: { readonly app: StoreApp; readonly teamId: number }): ReactElement {
  return (
    <Facts
      facts={[
        ["Id in the store", app.app_store_id],
        ["Platform", platformName(app.platform)],
        ["Newest version", app.latest_version],
        ["Added", <Time key="added" value={app.created_at} />],
        ["Name for users", app.display_name],
        ["Self-service", app.self_service ? "yes" : "no"],
        ["Categories", app.categories.join(", ")],
        ["Hosts", scopeText(app) || "all hosts"],
        [
          "Updates",
          app.auto_update_enabled ? `between ${app.auto_update_window_start} and ${app.auto_update_window_end}` : null,
        ],
        ["Installed at setup", app.install_during_setup ? "yes" : null],
        [
          "Policies that install it",
          <InstallPolicies key="policies" teamId={teamId} policies={app.automatic_install_policies} />,
        ],
      ]}
    />
  );
}
