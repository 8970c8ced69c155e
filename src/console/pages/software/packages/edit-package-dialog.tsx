import "./packages.css";
import { type ReactElement, useState } from "react";
import { type Package, packagesApi } from "../../../../api/software/packages.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { counted } from "../../../parts/counted.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, FileField, Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { LabelScopeField } from "../../../parts/label-scope/label-scope-field.tsx";
import { type LabelScope, labelRuleNames, labelScopeBody, labelScopeOf } from "../../../parts/label-scope/scope.ts";
import { roleTeam } from "../../../parts/one-team.tsx";
import { UploadProgress } from "../../../parts/upload/upload-progress.tsx";
import { useUpload } from "../../../parts/upload/use-upload.ts";
import { may } from "../../../session.ts";
import { CategoriesField } from "./categories-field.tsx";
import type { OfferedTitle } from "./offer.ts";

import { isMobileApp, isScriptFile, PACKAGE_FILES } from "./package-kinds.ts";
import { PatchFields } from "./patch-fields.tsx";
import { ScriptFields, type ScriptValues } from "./script-fields.tsx";
import { useOutdateOffers } from "./use-outdate-offers.ts";

interface EditPackageDialogProps {
  readonly title: OfferedTitle;
  readonly installer: Package;
  /** Whether a new file is what the dialog is for. */
  readonly isNewVersion: boolean;
  readonly onClose: () => void;
}

interface Values extends LabelScope, ScriptValues {
  readonly [name: string]: unknown;
  readonly software: File | null;
  readonly display_name: string;
  readonly self_service: boolean;
  readonly categories: readonly string[];
  readonly automatic_install: boolean;
  readonly patch: boolean;
  readonly patch_when_closed: boolean;
  readonly notify_before_patching: boolean;
}

const valuesOf = (installer: Package): Values => ({
  software: null,
  display_name: installer.display_name,
  self_service: installer.self_service,
  categories: installer.categories ?? [],
  automatic_install: false,
  patch: installer.patch_policy !== null,
  patch_when_closed: installer.patch_policy?.patch_when_closed ?? true,
  notify_before_patching: installer.patch_policy?.notify_before_patching ?? false,
  ...labelScopeOf(installer),
  install_script: installer.install_script,
  uninstall_script: installer.uninstall_script,
  post_install_script: installer.post_install_script,
  pre_install_query: installer.pre_install_query,
  configuration: installer.configuration ?? "",
});

/** An empty text stands for an empty list in a form. */
const inForm = (names: readonly string[]): string[] => (names.length === 0 ? [""] : [...names]);

type Name = keyof Values & string;
const changedNames = (values: Values, initial: Values): readonly Name[] =>
  Object.keys(values).filter((name) => JSON.stringify(values[name]) !== JSON.stringify(initial[name]));

const scopeNames: readonly string[] = labelRuleNames;

/** Only what was changed is sent, so that nothing else of the package is touched. */
function bodyOf(values: Values, initial: Values) {
  const { software: _, ...others } = values;
  const names = changedNames(values, initial);
  const [lists] = Object.entries(labelScopeBody(values)).map(([rule, labels]) => ({ [rule]: inForm(labels) }));
  return {
    ...Object.fromEntries(
      names
        .filter((name) => name !== "software" && name !== "categories" && !scopeNames.includes(name))
        .map((name) => [name, others[name]]),
    ),
    ...(names.includes("categories") ? { categories: inForm(values.categories) } : {}),
    ...(names.some((name) => scopeNames.includes(name)) ? lists : {}),
  };
}

/** Changes the package of a title, and replaces its file. */
export default function EditPackageDialog(props: EditPackageDialogProps): ReactElement {
  const { title, installer, isNewVersion, onClose } = props;
  const outdate = useOutdateOffers();
  const upload = useUpload();
  const [initial] = useState(() => valuesOf(installer));
  const form = useForm({
    initial,
    send: (values: Values, options) => {
      const params = { id: String(title.id) };
      const body = { team_id: installer.team_id, ...bodyOf(values, initial) };
      const { software } = values;
      if (software === null || options.dryRun === true)
        return client.call(packagesApi.update, { params, body }, options);
      return upload.send(software, (sent, sendOptions) =>
        client.call(packagesApi.update, { params, body: { ...body, software: sent } }, sendOptions),
      );
    },
    onDone: ({ software_installer: changed }) => {
      notifyDone(
        changed.version === installer.version ? "The package is saved." : `The version ${changed.version} is offered.`,
      );
      void outdate();
      onClose();
    },
  });
  const { values } = form;
  const file = values.software?.name ?? installer.name;
  const hasNoPolicy = installer.automatic_install_policies === null;
  const mayMakePolicies = may("policies:write", roleTeam(installer.team_id));
  return (
    <Dialog
      title={isNewVersion ? `Add version of ${title.name}` : `Edit ${title.name}`}
      isWide
      hasChanges={changedNames(values, initial).length > 0 || values.software !== null}
      onClose={onClose}
    >
      <Form form={form} submit="Save" onCancel={onClose}>
        <FileField
          form={form}
          name="software"
          label={isNewVersion ? "File of the new version" : "Another file"}
          accept={PACKAGE_FILES}
          hint="Takes the place of the present one. It has to be a package of the same title, and of the same type."
        />
        <TextField
          form={form}
          name="display_name"
          label="Name for users"
          hint="What users of hosts see. Empty: the name of the title."
        />
        <CheckField
          form={form}
          name="self_service"
          label="Self-service"
          hint="Users of hosts may install it themselves."
        />
        {values.self_service && <CategoriesField form={form} teamId={installer.team_id} />}
        {mayMakePolicies && hasNoPolicy && !isScriptFile(file) && !isMobileApp(file) && (
          <CheckField
            form={form}
            name="automatic_install"
            label="Install automatically"
            hint="Creates a policy that installs it on hosts without it."
          />
        )}
        {mayMakePolicies && installer.svc_maintained_app_id !== null && <PatchFields form={form} />}
        <LabelScopeField form={form} />
        <ScriptFields form={form} file={file} />
        <Effect installer={installer} values={values} changed={changedNames(values, initial)} />
        <UploadProgress upload={upload} />
      </Form>
    </Dialog>
  );
}

/** Changes of these do not touch installations. */
const shownOnly: readonly string[] = [
  "self_service",
  "categories",
  "display_name",
  "automatic_install",
  "patch",
  "patch_when_closed",
  "notify_before_patching",
];

interface EffectProps {
  readonly installer: Package;
  readonly values: Values;
  readonly changed: readonly string[];
}

/** What saving does to hosts that wait for the package, and to those that have it. */
function Effect({ installer, values, changed }: EffectProps): ReactElement | null {
  const { pending_install, installed } = installer.status;
  const hasNewFile = values.software !== null;
  if (!hasNewFile && changed.every((name) => shownOnly.includes(name))) return null;
  return (
    <div className="message note">
      <p>
        {pending_install === 0
          ? "No host waits for the package. "
          : `${counted(pending_install, "host")} ${pending_install === 1 ? "waits" : "wait"} for the package: on those that have not begun, the installation is cancelled and not queued again. `}
        {hasNewFile &&
          (installed === 0
            ? "The counts of results start anew."
            : `${counted(installed, "host")} that ${installed === 1 ? "has" : "have"} the present file ${installed === 1 ? "keeps" : "keep"} it until it is installed again; the counts of results start anew.`)}
      </p>
    </div>
  );
}
