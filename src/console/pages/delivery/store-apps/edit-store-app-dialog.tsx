import { type ReactElement, useState } from "react";
import { storeAppsApi } from "../../../../api/delivery/store-apps.ts";
import type { StoreApp } from "../../../../api/software/store-app.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { LabelScopeField } from "../../../parts/label-scope/label-scope-field.tsx";
import { type LabelScope, labelRuleNames, labelScopeBody, labelScopeOf } from "../../../parts/label-scope/scope.ts";
import { CategoriesField } from "../../software/packages/categories-field.tsx";
import { useOutdateOffers } from "../../software/packages/use-outdate-offers.ts";
import { ConfigurationField } from "./configuration-field.tsx";

interface EditStoreAppDialogProps {
  readonly title: { readonly id: number; readonly name: string };
  readonly app: StoreApp;
  readonly teamId: number;
  readonly onClose: () => void;
}

interface Values extends LabelScope {
  readonly [name: string]: unknown;
  readonly display_name: string;
  readonly self_service: boolean;
  readonly categories: readonly string[];
  readonly configuration: string;
  readonly auto_update_enabled: boolean;
  readonly auto_update_window_start: string;
  readonly auto_update_window_end: string;
}

const valuesOf = (app: StoreApp): Values => ({
  display_name: app.display_name,
  self_service: app.self_service,
  categories: app.categories,
  configuration: app.configuration ?? "",
  auto_update_enabled: app.auto_update_enabled,
  auto_update_window_start: app.auto_update_window_start ?? "",
  auto_update_window_end: app.auto_update_window_end ?? "",
  ...labelScopeOf(app),
});

const scopeNames: readonly string[] = labelRuleNames;

/** Only what was changed. Times of updates go with the choice to update. */
function bodyOf(values: Values, initial: Values) {
  const changed = Object.keys(values).filter((name) => values[name] !== initial[name]);
  const plain = changed.filter((name) => !scopeNames.includes(name));
  return {
    ...Object.fromEntries(plain.map((name) => [name, values[name]])),
    ...(changed.some((name) => scopeNames.includes(name)) ? labelScopeBody(values) : {}),
  };
}

/** Changes how a team offers an app of a store. */
export default function EditStoreAppDialog(props: EditStoreAppDialogProps): ReactElement {
  const { title, app, teamId, onClose } = props;
  const outdate = useOutdateOffers();
  const [initial] = useState(() => valuesOf(app));
  const form = useForm({
    initial,
    send: (values: Values, options) => {
      const body = { team_id: teamId, ...bodyOf(values, initial) };
      return client.call(storeAppsApi.edit, { params: { id: String(title.id) }, body }, options);
    },
    onDone: () => {
      notifyDone("The app is saved.");
      void outdate();
      onClose();
    },
  });
  const isPhone = app.platform === "ios" || app.platform === "ipados";
  return (
    <Dialog title={`Edit ${title.name}`} isWide hasChanges={form.isChanged} onClose={onClose}>
      <Form form={form} submit="Save" onCancel={onClose}>
        <TextField
          form={form}
          name="display_name"
          label="Name for users"
          hint="What users of hosts see. Empty: the name in the store."
        />
        <CheckField
          form={form}
          name="self_service"
          label="Self-service"
          hint="Users of hosts may install it themselves."
        />
        {form.values.self_service && <CategoriesField form={form} teamId={teamId} />}
        <LabelScopeField form={form} />
        {isPhone && (
          <CheckField
            form={form}
            name="auto_update_enabled"
            label="Update automatically"
            hint="Devices with an older version get the newest between these times."
          />
        )}
        {isPhone && form.values.auto_update_enabled && (
          <>
            <TextField form={form} name="auto_update_window_start" label="From" placeholder="22:00" />
            <TextField form={form} name="auto_update_window_end" label="Until" placeholder="04:30" />
          </>
        )}
        <ConfigurationField form={form} platform={app.platform} />
      </Form>
    </Dialog>
  );
}
