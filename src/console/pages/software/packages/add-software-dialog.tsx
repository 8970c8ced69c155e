import "./packages.css";
import { type ReactElement, useId, useState } from "react";
import { catalogueApi } from "../../../../api/software/catalogue.ts";
import { softwareApi } from "../../../../api/software/software.ts";
import { useOutdate } from "../../../api.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { useTeamsWith } from "../../../parts/one-team.tsx";
import { Tabs } from "../../../parts/tabs.tsx";
import { useGo } from "../../../url.ts";
import { AndroidAppForm, StoreAppForm } from "../../delivery/store-apps/store-app-form.tsx";
import { AppForm, CatalogueForm } from "../catalogue/catalogue-form.tsx";
import { useOfferTeam } from "./offer-teams.ts";
import { type AddFormProps, PackageForm } from "./package-form.tsx";

const kinds = [
  { id: "add-package", name: "Package", Form: PackageForm },
  { id: "add-catalogue", name: "Catalogue app", Form: CatalogueForm },
  { id: "add-store", name: "App Store app", Form: StoreAppForm },
  { id: "add-android", name: "Android app", Form: AndroidAppForm },
] as const;

interface AddSoftwareDialogProps {
  /** An app of the catalogue that was chosen already. */
  readonly app?: { readonly id: number; readonly name: string };
  readonly onClose: () => void;
}

/** Adds a package or an app to what a team offers. */
export default function AddSoftwareDialog({ app, onClose }: AddSoftwareDialogProps): ReactElement {
  const id = useId();
  const outdate = useOutdate();
  const go = useGo();
  const teams = useTeamsWith("packages:write");
  const pageTeam = useOfferTeam("packages:write");
  const [chosenTeam, setTeam] = useState(pageTeam);
  const [kind, setKind] = useState<string>(kinds[0].id);
  const [hasChanges, setChanges] = useState(false);
  // The page may be of a team to which the user may not add anything.
  const team = teams.find((other) => other.id === chosenTeam);
  const { Form } = kinds.find((other) => other.id === kind) ?? kinds[0];
  const props = (teamId: number): AddFormProps => ({
    teamId,
    onAdded: (titleId) => {
      void outdate(softwareApi.titles, softwareApi.title, catalogueApi.list, catalogueApi.get);
      onClose();
      go(`/software/titles/${titleId}`, { team_id: teamId });
    },
    onChange: () => setChanges(true),
    onCancel: onClose,
  });
  return (
    <Dialog
      title={app === undefined ? "Add software" : `Add ${app.name}`}
      isWide
      hasChanges={hasChanges}
      onClose={onClose}
    >
      <div className="field">
        <label htmlFor={`${id}-team`}>Team</label>
        <select
          id={`${id}-team`}
          value={team?.id ?? ""}
          onChange={({ target }) => setTeam(target.value === "" ? null : Number(target.value))}
        >
          {team === undefined && <option value="">Choose a team</option>}
          {teams.map((other) => (
            <option key={other.id} value={other.id}>
              {other.name}
            </option>
          ))}
        </select>
      </div>
      {team === undefined && <p className="hint">Software is offered to the hosts of a team.</p>}
      {team !== undefined && app !== undefined && <AppForm key={team.id} {...props(team.id)} appId={String(app.id)} />}
      {team !== undefined && app === undefined && (
        <Tabs label="Kind of software" tabs={kinds} selected={kind} onSelect={setKind}>
          <Form key={`${kind} ${team.id}`} {...props(team.id)} />
        </Tabs>
      )}
    </Dialog>
  );
}
