import JobModel
import Testing

@Suite struct DigestTests {
  // FIPS 180-4's examples.
  @Test func sha256GivesThePublishedDigests() {
    #expect(
      SHA256.hexDigest(of: [])
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      SHA256.hexDigest(of: Array("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func sha256OfPiecesIsThatOfTheWhole() {
    let bytes = (0..<100_000).map { UInt8($0 * 7 % 256) }
    for seed in 1...3 as ClosedRange<UInt64> {
      var hasher = SHA256Hasher()
      for chunk in randomChunks(bytes, longest: 5000, seed: seed) { hasher.update(chunk) }
      #expect(hasher.finalize() == SHA256.hexDigest(of: bytes))
    }
  }

  // The first fields that GNU cksum prints for these bytes.
  @Test func theChecksumIsThatOfCksum() {
    #expect(PosixChecksum.of([]) == 4_294_967_295)
    #expect(PosixChecksum.of(Array("a".utf8)) == 1_220_704_766)
    #expect(PosixChecksum.of(Array("123456789".utf8)) == 930_766_865)
    #expect(PosixChecksum.of(Array("안녕 🌊\n".utf8)) == 3_333_828_272)
    #expect(PosixChecksum.of((0..<70_000).map { UInt8($0 * 7 % 256) }) == 3_451_499_348)
  }

  @Test func theChecksumOfPiecesIsThatOfTheWhole() {
    let bytes = (0..<70_000).map { UInt8($0 * 7 % 256) }
    var checksum = PosixChecksum()
    for chunk in randomChunks(bytes, longest: 999, seed: 5) { checksum.update(chunk) }
    #expect(checksum.value == 3_451_499_348)
  }
}
