import JobModel
import Testing

@Suite struct CancelWishTests {
  @Test(arguments: [
    CancelWish(), CancelWish(grace: 0, reach: .group, leftovers: .end), CancelWish(grace: 3600),
  ]) func itsLineIsReadBack(_ wish: CancelWish) {
    #expect(CancelWish(wish.description) == wish)
  }

  @Test func theLineIsAContract() {
    #expect(CancelWish().description == "grace=5 reach=all leftovers=list")
    // What a store of an earlier version holds.
    #expect(CancelWish("") == CancelWish())
    #expect(CancelWish("reach=group") == CancelWish(reach: .group))
  }

  @Test(arguments: [
    "grace=-1", "grace=3601", "grace=", "grace=1s", "reach=none", "leftovers", "other=1",
  ]) func whatIsNoSuchLineIsNotReadAsOne(_ line: String) {
    #expect(CancelWish(line) == nil)
  }
}
