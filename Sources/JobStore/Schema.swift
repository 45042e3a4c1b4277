/// The store's tables. Migrations are numbered from 1 and only ever added; what one of them did is
/// never changed once a Pocket was published with it. PRAGMA user_version counts those that were made.
enum Schema {
  /// Tells Pocket's databases from others (sqlite.org/pragma.html#pragma_application_id): "Pckt".
  static let applicationID: Int64 = 0x5063_6B74

  /// The migrations, the first one first.
  static let migrations = [
    """
    CREATE TABLE job (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      host TEXT NOT NULL,
      name TEXT UNIQUE,
      title TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      digest TEXT NOT NULL,
      request BLOB NOT NULL,
      prompt BLOB NOT NULL,
      state TEXT NOT NULL,
      state_at INTEGER NOT NULL,
      proved INTEGER NOT NULL DEFAULT 0,
      leftovers TEXT NOT NULL DEFAULT '',
      attempt TEXT,
      pid INTEGER,
      pgid INTEGER,
      exit TEXT,
      late_out INTEGER NOT NULL DEFAULT 0,
      late_err INTEGER NOT NULL DEFAULT 0,
      agent_session TEXT,
      outcome TEXT
    ) STRICT;

    -- A stream's generations; the newest one is the one that grows.
    CREATE TABLE generation (
      job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE,
      stream TEXT NOT NULL,
      generation INTEGER NOT NULL,
      committed INTEGER NOT NULL DEFAULT 0,
      inode TEXT,
      ended TEXT,
      ended_at INTEGER,
      PRIMARY KEY (job, stream, generation)
    ) STRICT, WITHOUT ROWID;

    -- The output: runs of whole lines, in the order in which they were committed.
    CREATE TABLE chunk (
      sequence INTEGER PRIMARY KEY,
      job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE,
      stream TEXT NOT NULL,
      generation INTEGER NOT NULL,
      start INTEGER NOT NULL,
      kind TEXT NOT NULL,
      bytes BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX chunk_by_start ON chunk (job, stream, generation, start);
    CREATE INDEX chunk_by_job ON chunk (job);

    -- Up to where a stream was shown on a terminal.
    CREATE TABLE shown (
      job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE,
      stream TEXT NOT NULL,
      generation INTEGER NOT NULL,
      start INTEGER NOT NULL,
      PRIMARY KEY (job, stream)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE intent (
      number INTEGER PRIMARY KEY,
      job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      wanted_at INTEGER NOT NULL,
      UNIQUE (job, kind)
    ) STRICT;

    CREATE TABLE looked (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      at INTEGER NOT NULL
    ) STRICT;
    """,
    """
    -- The hosts that were connected to, and how.
    CREATE TABLE host (
      name TEXT PRIMARY KEY,
      contact_at INTEGER NOT NULL,
      engine TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
    """
    -- A wish, what it is about within its job (an approval has several), and how it is to be carried
    -- out. Who carries it out holds it meanwhile, so that nobody else does.
    ALTER TABLE intent RENAME TO intent_without_holder;
    CREATE TABLE intent (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      subject TEXT NOT NULL DEFAULT '',
      wish TEXT NOT NULL DEFAULT '',
      wanted_at INTEGER NOT NULL,
      holder TEXT,
      held_until INTEGER,
      UNIQUE (job, kind, subject)
    ) STRICT;
    INSERT INTO intent (job, kind, wanted_at)
      SELECT job, kind, wanted_at FROM intent_without_holder ORDER BY number;
    DROP TABLE intent_without_holder;

    -- Output that came after the exit record's sizes, taken in on request.
    CREATE TABLE late (
      job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE,
      stream TEXT NOT NULL,
      start INTEGER NOT NULL,
      bytes BLOB NOT NULL,
      PRIMARY KEY (job, stream, start)
    ) STRICT;

    -- The last look at the job: what it found, when, and when the output last grew.
    ALTER TABLE job ADD COLUMN evidence TEXT;
    ALTER TABLE job ADD COLUMN evidence_at INTEGER;
    ALTER TABLE job ADD COLUMN output_at INTEGER;
    -- The leftovers' commands stand beside their pids; the next look finds them again.
    UPDATE job SET leftovers = '';
    """,
  ]
}
