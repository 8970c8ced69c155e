import { type ReactElement, useState } from "react";
import { type CatalogueAppDetails, catalogueApi } from "../../../../api/software/catalogue.ts";
import { client, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { CheckField, Form, TextAreaField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { LabelScopeField } from "../../../parts/label-scope/label-scope-field.tsx";
import { allHosts, type LabelScope, labelScopeBody, ruleOf } from "../../../parts/label-scope/scope.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { platformName } from "../../../parts/platforms.ts";
import { may } from "../../../session.ts";

import { OptionPicker } from "../packages/option-picker.tsx";
import type { AddFormProps } from "../packages/package-form.tsx";

/** An app of the catalogue, which the team does not offer yet. */
export function CatalogueForm(props: AddFormProps): ReactElement {
  const { teamId } = props;
  const [appId, setAppId] = useState<string | null>(null);
  const query = { team_id: teamId, available: true, order_key: "name" } as const;
  const reply = useRead(catalogueApi.list, { query }, { enabled: appId === null });
  if (appId !== null) return <AppForm {...props} appId={appId} onBack={() => setAppId(null)} />;
  return (
    <Read from={reply} what="catalogue">
      {({ svc_maintained_apps }) => (
        <OptionPicker
          label="Catalogue"
          options={svc_maintained_apps.map(({ id, name, platform, version }) => ({
            id: String(id),
            name,
            details: `${platformName(platform)} ${version}`,
          }))}
          onSelect={(id) => {
            setAppId(id);
            props.onChange();
          }}
          empty="The catalogue has no app that the team does not offer already."
        />
      )}
    </Read>
  );
}

interface AppFormProps extends AddFormProps {
  readonly appId: string;
  /** Goes back to the choice of an app. Absent: there is none. */
  readonly onBack?: () => void;
}

/** How the team offers an app of the catalogue. */
export function AppForm(props: AppFormProps): ReactElement {
  const reply = useRead(catalogueApi.get, { params: { id: props.appId }, query: { team_id: props.teamId } });
  return (
    <Read from={reply} what="app">
      {({ svc_maintained_app }) => <Fields {...props} app={svc_maintained_app} />}
    </Read>
  );
}

interface Values extends LabelScope {
  readonly [name: string]: unknown;
  readonly self_service: boolean;
  readonly automatic_install: boolean;
  readonly install_script: string;
  readonly uninstall_script: string;
  readonly post_install_script: string;
  readonly pre_install_query: string;
}

const texts = ["install_script", "uninstall_script", "post_install_script", "pre_install_query"] as const;

const initialOf = ({ install_script, uninstall_script }: CatalogueAppDetails): Values => ({
  self_service: false,
  automatic_install: false,
  ...allHosts,
  install_script,
  uninstall_script,
  post_install_script: "",
  pre_install_query: "",
});

function Fields(props: AppFormProps & { readonly app: CatalogueAppDetails }): ReactElement {
  const { app, teamId, onAdded, onCancel, onBack } = props;
  const [initial] = useState(() => initialOf(app));
  const form = useForm({
    initial,
    send: (values: Values) => {
      const { self_service, automatic_install } = values;
      // Scripts that are those of the catalogue follow it; others stay as they are.
      const changed = texts.filter((name) => values[name] !== initial[name]);
      const body = {
        svc_maintained_app_id: app.id,
        team_id: teamId,
        self_service,
        ...(automatic_install ? { automatic_install } : {}),
        ...(ruleOf(values) === null ? {} : labelScopeBody(values)),
        ...Object.fromEntries(changed.map((name) => [name, values[name]])),
      };
      return client.call(catalogueApi.add, { body });
    },
    onDone: ({ software_title_id }) => {
      notifyDone(`${app.name} is added.`);
      onAdded(software_title_id);
    },
    hasDryRun: false,
  });
  return (
    <div onChange={props.onChange}>
      <Facts
        facts={[
          ["App", app.name],
          ["Platform", platformName(app.platform)],
          ["Version", app.version],
          ["File", app.filename],
          ["From", app.url],
          ["Categories", app.categories.join(", ")],
        ]}
      />
      <Form form={form} submit="Add software" onCancel={onCancel}>
        <CheckField
          form={form}
          name="self_service"
          label="Self-service"
          hint="Users of hosts may install it themselves."
        />
        {may("policies:write", roleTeam(teamId)) && (
          <CheckField
            form={form}
            name="automatic_install"
            label="Install automatically"
            hint="Creates a policy that installs it on hosts without it."
          />
        )}
        <LabelScopeField form={form} />
        <details className="scripts">
          <summary>Scripts and query</summary>
          <p className="hint">Scripts that you change are not updated with the catalogue any more.</p>
          <TextAreaField form={form} name="install_script" label="Install script" rows={6} />
          <TextAreaField form={form} name="post_install_script" label="Post-install script" rows={4} />
          <TextAreaField form={form} name="uninstall_script" label="Uninstall script" rows={6} />
          <TextAreaField form={form} name="pre_install_query" label="Pre-install query" rows={2} />
        </details>
        {form.isSending && (
          <p role="status" className="message note">
            The server downloads the installer. This can take minutes.
          </p>
        )}
        {onBack !== undefined && !form.isSending && (
          <button type="button" className="plain small" onClick={onBack}>
            Choose another app
          </button>
        )}
      </Form>
    </div>
  );
}
