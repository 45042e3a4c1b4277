import JobStore
import TestSupport
import Testing

@Suite struct HostTests {
  @Test func theLatestContactOfEachHostIsKept() async throws {
    let store = try await TemporaryStore().open()
    try await store.recordContact(with: "dev1", engine: "libssh2 1.10.0", at: 100)
    try await store.recordContact(with: "dev2", engine: "libssh2 1.10.0", at: 200)
    try await store.recordContact(with: "dev1", engine: "OpenSSH_9.2p1", at: 300)
    // Told late, by another process.
    try await store.recordContact(with: "dev1", engine: "libssh2 1.10.0", at: 150)
    let contacts = try await store.contacts()
    #expect(contacts.map(\.host) == ["dev1", "dev2"])
    #expect(contacts.first?.at == 300 && contacts.first?.engine == "OpenSSH_9.2p1")
  }
}
