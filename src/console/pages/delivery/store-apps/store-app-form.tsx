import { type ReactElement, useState } from "react";
import { storeAppsApi } from "../../../../api/delivery/store-apps.ts";
import type { LicensedApp } from "../../../../api/software/store-app.ts";
import { client, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { CheckField, Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { LabelScopeField } from "../../../parts/label-scope/label-scope-field.tsx";
import { allHosts, type LabelScope, labelScopeBody, ruleOf } from "../../../parts/label-scope/scope.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { platformName } from "../../../parts/platforms.ts";
import { may } from "../../../session.ts";
import { CategoriesField } from "../../software/packages/categories-field.tsx";

import { OptionPicker } from "../../software/packages/option-picker.tsx";
import type { AddFormProps } from "../../software/packages/package-form.tsx";
import { ConfigurationField } from "./configuration-field.tsx";

type ChosenApp = Pick<LicensedApp, "app_store_id" | "platform" | "name" | "latest_version">;

const keyOf = ({ app_store_id, platform }: ChosenApp): string => `${app_store_id} ${platform}`;

/** An app of the store of which the organization has licenses, and which the team does not offer yet. */
export function StoreAppForm(props: AddFormProps): ReactElement {
  const [app, setApp] = useState<ChosenApp | null>(null);
  const reply = useRead(storeAppsApi.list, { query: { team_id: props.teamId } }, { enabled: app === null });
  if (app !== null) return <Fields {...props} app={app} onBack={() => setApp(null)} />;
  return (
    <Read from={reply} what="licensed apps">
      {({ app_store_apps }) => (
        <OptionPicker
          label="App Store"
          options={app_store_apps.map((licensed) => ({
            id: keyOf(licensed),
            name: licensed.name,
            details: `${platformName(licensed.platform)} ${licensed.latest_version}`,
          }))}
          onSelect={(key) => {
            setApp(app_store_apps.find((licensed) => keyOf(licensed) === key) ?? null);
            props.onChange();
          }}
          empty="There are no licenses of apps that the team does not offer already."
        />
      )}
    </Read>
  );
}

/** An app of Google Play, which is named by its package. */
export const AndroidAppForm = (props: AddFormProps): ReactElement => <Fields {...props} app={null} />;

interface Values extends LabelScope {
  readonly [name: string]: unknown;
  readonly app_store_id: string;
  readonly self_service: boolean;
  readonly ensure: boolean;
  readonly categories: readonly string[];
  readonly configuration: string;
}

interface FieldsProps extends AddFormProps {
  /** Null: an app of Android. */
  readonly app: ChosenApp | null;
  readonly onBack?: () => void;
}

function Fields({ app, teamId, onAdded, onChange, onCancel, onBack }: FieldsProps): ReactElement {
  const platform = app?.platform ?? "android";
  const form = useForm({
    initial: {
      app_store_id: app?.app_store_id ?? "",
      self_service: app === null,
      ensure: false,
      categories: [],
      configuration: "",
      ...allHosts,
    } as Values,
    send: ({ app_store_id, self_service, ensure, categories, configuration, ...scope }: Values, options) => {
      const body = {
        app_store_id: app_store_id.trim(),
        platform,
        team_id: teamId,
        self_service,
        ...(ensure ? { ensure: "present" as const } : {}),
        ...(categories.length === 0 ? {} : { categories: [...categories] }),
        ...(configuration === "" ? {} : { configuration }),
        ...(ruleOf(scope as LabelScope) === null ? {} : labelScopeBody(scope as LabelScope)),
      };
      return client.call(storeAppsApi.add, { body }, options);
    },
    onDone: ({ software_title_id, name }) => {
      notifyDone(`${name} is added.`);
      onAdded(software_title_id);
    },
    hasDryRun: false,
  });
  return (
    <div onChange={onChange}>
      {app !== null && (
        <Facts
          facts={[
            ["App", app.name],
            ["Platform", platformName(app.platform)],
            ["Version", app.latest_version],
          ]}
        />
      )}
      <Form form={form} submit="Add software" onCancel={onCancel}>
        {app === null && (
          <TextField
            form={form}
            name="app_store_id"
            label="Name of the package"
            placeholder="com.example.app"
            hint="As in the address of the app on Google Play."
          />
        )}
        <CheckField
          form={form}
          name="self_service"
          label="Self-service"
          hint="Users of hosts may install it themselves."
        />
        {form.values.self_service && <CategoriesField form={form} teamId={teamId} />}
        {platform === "darwin" && may("policies:write", roleTeam(teamId)) && (
          <CheckField
            form={form}
            name="ensure"
            label="Install automatically"
            hint="Creates a policy that installs it on Macs without it."
          />
        )}
        <LabelScopeField form={form} />
        <ConfigurationField form={form} platform={platform} />
        {onBack !== undefined && !form.isSending && (
          <button type="button" className="plain small" onClick={onBack}>
            Choose another app
          </button>
        )}
      </Form>
    </div>
  );
}
