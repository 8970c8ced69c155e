import type { ReactElement } from "react";
import { packagesApi } from "../../../../api/software/packages.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { CheckField, FileField, Form } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { LabelScopeField } from "../../../parts/label-scope/label-scope-field.tsx";
import { allHosts, type LabelScope, labelScopeBody, ruleOf } from "../../../parts/label-scope/scope.ts";
import { roleTeam } from "../../../parts/one-team.tsx";
import { UploadProgress } from "../../../parts/upload/upload-progress.tsx";
import { useUpload } from "../../../parts/upload/use-upload.ts";
import { may } from "../../../session.ts";
import { CategoriesField } from "./categories-field.tsx";

import { isMobileApp, isScriptFile, PACKAGE_FILES } from "./package-kinds.ts";
import { noScripts, ScriptFields, type ScriptValues } from "./script-fields.tsx";

export interface AddFormProps {
  readonly teamId: number;
  /** With the id of the title that the team offers now. */
  readonly onAdded: (titleId: number) => void;
  readonly onChange: () => void;
  readonly onCancel: () => void;
}

interface Values extends LabelScope, ScriptValues {
  readonly [name: string]: unknown;
  readonly software: File | null;
  readonly self_service: boolean;
  readonly automatic_install: boolean;
  readonly categories: readonly string[];
}

const initial: Values = {
  software: null,
  self_service: false,
  automatic_install: false,
  categories: [],
  ...allHosts,
  ...noScripts,
};

/** The fields of the request besides the file. Texts that are empty have defaults on the server. */
function fieldsOf({ software: _, categories, self_service, automatic_install, ...values }: Values) {
  const texts = Object.keys(noScripts).filter((name) => values[name] !== "");
  return {
    self_service,
    ...(automatic_install ? { automatic_install } : {}),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(ruleOf(values) === null ? {} : labelScopeBody(values)),
    ...Object.fromEntries(texts.map((name) => [name, String(values[name])])),
  };
}

/** Uploads a package, which the team then offers to its hosts. */
export function PackageForm({ teamId, onAdded, onChange, onCancel }: AddFormProps): ReactElement {
  const upload = useUpload();
  const form = useForm({
    initial,
    send: (values: Values) => {
      const body = { ...fieldsOf(values), team_id: teamId };
      const { software } = values;
      if (software === null) throw new Error("Choose the file of the package.");
      return upload.send(software, (sent, options) =>
        client.call(packagesApi.upload, { body: { ...body, software: sent } }, options),
      );
    },
    onDone: ({ software_package: { name, title_id } }) => {
      notifyDone(`${name} is added.`);
      onAdded(title_id);
    },
    hasDryRun: false,
  });
  const file = form.values.software?.name ?? "";
  const mayMakePolicies = may("policies:write", roleTeam(teamId));
  return (
    <div onChange={onChange}>
      <Form form={form} submit="Add software" onCancel={onCancel}>
        <FileField
          form={form}
          name="software"
          label="File"
          accept={PACKAGE_FILES}
          hint=".pkg, .msi, .exe, .deb, .rpm, .tar.gz, .sh, .py or .ps1; .ipa for in-house apps of iPhones and iPads"
        />
        <CheckField
          form={form}
          name="self_service"
          label="Self-service"
          hint="Users of hosts may install it themselves."
        />
        {form.values.self_service && <CategoriesField form={form} teamId={teamId} />}
        {mayMakePolicies && !isScriptFile(file) && !isMobileApp(file) && (
          <CheckField
            form={form}
            name="automatic_install"
            label="Install automatically"
            hint="Creates a policy that installs it on hosts without it."
          />
        )}
        <LabelScopeField form={form} />
        {file !== "" && <ScriptFields form={form} file={file} usual="Empty: the usual one for files of this type." />}
        <UploadProgress upload={upload} />
      </Form>
    </div>
  );
}
