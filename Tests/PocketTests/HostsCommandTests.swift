import JobModel
import JobStore
import TestSupport
import Testing

@testable import pocket

/// `pocket hosts`, against a real store and a real file.
@Suite struct HostsCommandTests {
  let world: World

  init() throws {
    world = try World(environment: ["POCKET_SSH_CONFIG": "ssh_config"])
    try world.folder.write("work/ssh_config", "Host dev1 box\n")
  }

  @Test func aliasesComeFirstWithWhatIsRemembered() async throws {
    try await world.add("aaaaaaaaaaa1")
    try await world.add("aaaaaaaaaaa2", end: .code(0))
    try await world.add("aaaaaaaaaaa3", on: "me@other", end: .code(0))
    let store = try await world.store()
    try await store.recordContact(with: "dev1", engine: "libssh2 1.10.0", at: World.now - 30)
    #expect(
      await world.run("hosts").output == """
        HOST      CONTACT   RUNNING  ENGINE
        dev1      30 s ago  1        libssh2 1.10.0
        box       never     -        -
        me@other  never     -        -

        """)
  }

  @Test func jsonTellsAliasesFromOtherNames() async throws {
    try await world.add("aaaaaaaaaaa3", on: "me@other")
    #expect(
      await world.run("hosts", "--json").output == """
        {"alias":true,"contactAt":null,"engine":null,"host":"dev1","running":[]}
        {"alias":true,"contactAt":null,"engine":null,"host":"box","running":[]}
        {"alias":false,"contactAt":null,"engine":null,"host":"me@other","running":["aaaaaaaaaaa3"]}

        """)
  }

  @Test func nothingIsMadeAndNoHostIsNoError() async throws {
    try world.folder.write("work/ssh_config", "Host *\n")
    let outcome = await world.run("hosts")
    #expect(outcome.code == 0 && outcome.output.isEmpty)
    #expect(outcome.errors.contains("no host is known"))
    #expect(!fileExists(world.folder["store"]))
  }
}
