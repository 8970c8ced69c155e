import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import "./packages.css";
import { lazy, type ReactElement, Suspense, useState } from "react";
import { type Package, packagesApi } from "../../../../api/software/packages.ts";
import { pathOf, queryString } from "../../../../client/requests.ts";
import { client, request } from "../../../api.ts";
import { notifyFailed } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { scopeText } from "../../../parts/label-scope/scope.ts";
import { platformName } from "../../../parts/platforms.ts";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import type { OfferedTitle } from "./offer.ts";
import { CountFacts, InstallPolicies } from "./offer-facts.tsx";
import { isScriptFile } from "./package-kinds.ts";

const EditPackageDialog = lazy(() => import("./edit-package-dialog.tsx"));
const PinDialog = lazy(() => import("./pin-dialog.tsx"));
const OfferDialogs = lazy(() => import("./offer-dialogs.tsx"));

interface PackageCardProps {
  readonly title: OfferedTitle;
  readonly installer: Package;
  readonly teamId: number;
}

type OpenDialog = "edit" | "version" | "pin" | "install" | "icon" | "policy" | "delete";

/** The package that a team offers of a title, and what can be done with it. */
export function PackageCard({ title, installer, teamId }: PackageCardProps): ReactElement {
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  return (
    <Card title="Package">
      <About installer={installer} teamId={teamId} />
      <CountFacts titleId={title.id} teamId={teamId} counts={installer.status} />
      <Texts installer={installer} />
      <Buttons installer={installer} teamId={teamId} onOpen={setDialog} />
      {dialog !== null && (
        <Suspense>
          {dialog === "edit" || dialog === "version" ? (
            <EditPackageDialog
              title={title}
              installer={installer}
              isNewVersion={dialog === "version"}
              onClose={close}
            />
          ) : dialog === "pin" ? (
            <PinDialog installer={installer} onClose={close} />
          ) : (
            <OfferDialogs
              name={dialog}
              title={title}
              teamId={teamId}
              offer={{ name: installer.name, what: "package", platform: installer.platform }}
              onClose={close}
            />
          )}
        </Suspense>
      )}
    </Card>
  );
}

function About({ installer, teamId }: { readonly installer: Package; readonly teamId: number }): ReactElement {
  const { patch_policy: patch } = installer;
  const installing = (installer.automatic_install_policies ?? []).filter(({ id }) => id !== patch?.id);
  return (
    <Facts
      facts={[
        ["File", installer.name],
        ["Version", installer.version],
        ["Platform", platformName(installer.platform)],
        ["SHA-256", <code key="digest">{installer.hash_sha256}</code>],
        ["Uploaded", <Time key="uploaded" value={installer.uploaded_at} />],
        ["Downloaded from", installer.url],
        ["Name for users", installer.display_name],
        ["Self-service", installer.self_service ? "yes" : "no"],
        ["Categories", (installer.categories ?? []).join(", ")],
        ["Hosts", scopeText(installer) || "all hosts"],
        ["Policies that install it", <InstallPolicies key="policies" teamId={teamId} policies={installing} />],
        [
          "Policy that updates it",
          patch && <InstallPolicies key="patch" teamId={teamId} policies={[{ id: patch.id, name: patch.name }]} />,
        ],
        [
          "Follows the catalogue",
          installer.svc_maintained_app_id === null
            ? null
            : installer.pinned_version
              ? `stays at ${installer.pinned_version}`
              : "the newest version",
        ],
      ]}
    />
  );
}

/** The scripts of the package, and its other texts, each behind its name. */
function Texts({ installer }: { readonly installer: Package }): ReactElement {
  const texts = [
    ["Install script", isScriptFile(installer.name) ? "" : installer.install_script],
    ["Post-install script", installer.post_install_script],
    ["Uninstall script", installer.uninstall_script],
    ["Pre-install query", installer.pre_install_query],
    ["Configuration", installer.configuration ?? ""],
  ] as const;
  return (
    <>
      {texts
        .filter(([, text]) => text !== "")
        .map(([name, text]) => (
          <details key={name} className="script-text">
            <summary>{name}</summary>
            <ScrollingText text={text} />
          </details>
        ))}
    </>
  );
}

interface ButtonsProps {
  readonly installer: Package;
  readonly teamId: number;
  readonly onOpen: (dialog: OpenDialog) => void;
}

function Buttons({ installer, teamId, onOpen }: ButtonsProps): ReactElement {
  const team = teamId || null;
  const mayWrite = may("packages:write", team);
  const button = (dialog: OpenDialog, name: string, className = "plain") => (
    <button type="button" className={className} onClick={() => onOpen(dialog)}>
      {name}
    </button>
  );
  return (
    <div className="package-buttons">
      {may("software:install", team) && button("install", "Install", "")}
      {mayWrite && button("edit", "Edit")}
      {mayWrite && button("version", "Add version")}
      {mayWrite && installer.svc_maintained_app_id !== null && button("pin", "Pin version")}
      {mayWrite && button("icon", "Icon")}
      {may("policies:write", team) && button("policy", "Make policy")}
      <button type="button" className="plain" onClick={() => void download(installer)}>
        Download
      </button>
      {mayWrite && button("delete", "Delete", "danger")}
    </div>
  );
}

/** The browser itself saves the file, which may be larger than the memory of a page. */
async function download({ title_id, team_id }: Package): Promise<void> {
  try {
    const query = { team_id, alt: "media" as const };
    const params = { id: String(title_id) };
    const { token } = await request(() => client.call(packagesApi.token, { params, query }));
    const link = document.createElement("a");
    link.href = pathOf(packagesApi.downloadByToken, { ...params, token }) + queryString({ alt: "media" });
    link.download = "";
    link.click();
  } catch (error) {
    notifyFailed(error);
  }
}
