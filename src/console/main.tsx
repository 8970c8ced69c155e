import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api.ts";
import { App } from "./frame/app.tsx";
import { applyAppearance } from "./frame/appearance.ts";
import { reloadAfterUpgrades } from "./frame/page-scripts.ts";
import "./style.css";

applyAppearance();
reloadAfterUpgrades();
createRoot(document.getElementById("console")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
