# Two images: `runtime` (worker, webhook handler, codec server, command) and `sandbox`. The command says which program runs.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Not npm ci: see tools/setup/packages.mjs.
RUN npm install --no-save --no-audit --no-fund
COPY . .
RUN node tools/build.mjs
RUN node tools/image-layout.mjs

FROM node:24.21.0-bookworm-slim AS base
# TLS to a Temporal cluster or to the payment service needs the usual certificate authorities.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
RUN install -d -o node -g node -m 0700 /var/lib/holdfast
WORKDIR /app
ENV NODE_ENV=production HOLDFAST_STATE_DIR=/var/lib/holdfast HOLDFAST_BIND_ADDRESS=0.0.0.0
USER node

FROM base AS sandbox
COPY --from=build /app/image/sandbox ./
VOLUME /var/lib/holdfast
CMD ["node", "dist/sandbox/main.js"]

FROM base AS runtime
COPY --from=build /app/image/runtime ./
CMD ["node", "dist/workers/worker.js"]
