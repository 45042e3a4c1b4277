import TestSupport
import Testing

@testable import SSHClient

extension SSHClientTests {
  @Suite struct HandshakeSlotsTests {
    @Test func noMoreThanTheCountAreTakenAtOnce() async throws {
      let slots = HandshakeSlots(count: 4)
      let gauge = Locked((now: 0, most: 0))
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<20 {
          group.addTask {
            #expect(await slots.take())
            gauge.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            try? await Task.sleep(for: .milliseconds(5))
            gauge.withLock { $0.now -= 1 }
            await slots.giveBack()
          }
        }
      }
      #expect(gauge.withLock { $0.most } == 4)
    }

    @Test func aCancelledWaiterTakesNone() async throws {
      let slots = HandshakeSlots(count: 1)
      #expect(await slots.take())
      let waiter = Task { await slots.take() }
      waiter.cancel()
      #expect(await !waiter.value)
      await slots.giveBack()
      #expect(await slots.take())
    }
  }
}
