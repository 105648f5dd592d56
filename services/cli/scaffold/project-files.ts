import { crawlerText, LIST_PAGE, PRODUCT_PAGE, testText } from './crawler-files.ts';

/** A new folder to be created. */
interface Project {
  readonly name: string;
  /** Name of the packed program in the folder. */
  readonly tarball: string;
  /** Packages for the test and for editors: name → version, as in package.json. */
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The files of a new folder: path → content. */
export function projectFiles(project: Project): Readonly<Record<string, string>> {
  const { name } = project;
  return {
    [`crawlers/${name}.ts`]: crawlerText(name),
    [`test/${name}.test.ts`]: testText(name),
    'test/pages/list.html': LIST_PAGE,
    'test/pages/product.html': PRODUCT_PAGE,
    'package.json': packageText(project),
    'tsconfig.json': TSCONFIG,
    'docker-compose.yml': composeText(project),
    '.gitignore': 'node_modules/\noutput/\n.env\n',
    'README.md': readmeText(project),
  };
}

function packageText({ name, tarball, devDependencies }: Project): string {
  const contents = {
    name,
    private: true,
    type: 'module',
    scripts: { test: 'vitest run' },
    dependencies: { trawl: `file:${tarball}` },
    devDependencies,
  };
  return `${JSON.stringify(contents, undefined, 2)}\n`;
}

/** For editors; Node.js runs TypeScript without it. */
const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2024",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true,
    "allowImportingTsExtensions": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true
  }
}
`;

/** A Compose file for a fleet on one machine. The packed program is built into the image, and the crawlers are mounted. */
function composeText({ name, tarball }: Project): string {
  return `# The crawlers of this folder on a fleet:
#
#   docker compose up -d --build --scale worker=3
#   docker compose exec worker trawl produce https://www.example.com/ --crawler ${name} --wait
#   docker compose exec worker trawl records
#
# After changing a crawler: docker compose restart worker
x-log: &log
  driver: json-file
  options: { max-size: 20m, max-file: '5' }

services:
  rabbitmq:
    image: rabbitmq:4-management
    # The data folder is named after the host name, so that must not change.
    hostname: rabbitmq
    restart: unless-stopped
    logging: *log
    volumes:
      - rabbitmq-data:/var/lib/rabbitmq

  redis:
    image: redis:8
    restart: unless-stopped
    logging: *log
    command: [redis-server, --appendonly, 'yes', --maxmemory, 1gb, --maxmemory-policy, noeviction]
    volumes:
      - redis-data:/data

  worker:
    build:
      context: .
      dockerfile_inline: |
        FROM node:24-trixie-slim
        WORKDIR /app
        ENV NODE_ENV=production
        COPY --chmod=644 package*.json ${tarball} ./
        RUN npm install --omit=dev --no-audit --no-fund && npm cache clean --force
        RUN ln -s /app/node_modules/.bin/trawl /usr/local/bin/trawl && install -d -o node -g node output
        USER 1000:1000
        HEALTHCHECK --interval=15s --timeout=10s --start-period=30s --retries=2 CMD ["trawl", "doctor", "--worker"]
        CMD ["trawl", "work", "--stay-up"]
    init: true
    restart: unless-stopped
    logging: *log
    stop_grace_period: 45s
    # A worker takes fewer pages at once as it nears this limit.
    mem_limit: 1g
    read_only: true
    tmpfs: [/tmp]
    cap_drop: [ALL]
    security_opt: ['no-new-privileges:true']
    env_file:
      - path: .env
        required: false
    environment:
      # These override the values that .env has for commands outside the containers.
      RABBITMQ_URL: amqp://guest:guest@rabbitmq
      REDIS_URL: redis://redis
      OUTPUT_DIR: /app/output
      LOG_FORMAT: pretty
      TRAWL_COMMAND: docker compose exec worker trawl
      TRAWL_WORK_COMMAND: docker compose up -d --scale worker=3
    volumes:
      - ./crawlers:/app/crawlers:ro
      - output:/app/output
    depends_on:
      - rabbitmq
      - redis

volumes:
  output:
  rabbitmq-data:
  redis-data:
`;
}

function readmeText({ name }: Project): string {
  return `# ${name}

- \`npm install\`, then \`npm test\` runs the crawler on the pages saved in \`test/pages\`.
- \`npx trawl try https://www.example.com/ --crawler ${name} --watch\` shows what the crawler makes of a page, again after each save.
- \`npx trawl crawl https://www.example.com/ --crawler ${name} -o items.csv\` crawls in one process.
- \`docker compose up -d --build\` starts a fleet; \`docker-compose.yml\` says how to give it work.
`;
}
