import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api.ts";
import { App } from "./frame/app.tsx";
import { applyAppearance } from "./frame/appearance.ts";
import "./style.css";

applyAppearance();
// A script that is no longer on the server: it was upgraded since the page was opened.
addEventListener("vite:preloadError", () => location.reload());
createRoot(document.getElementById("console")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
