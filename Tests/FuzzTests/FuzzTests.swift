import Foundation
import FuzzTargets
import OperatingSystem
import Testing

/// A replay of all stored cases, and of a few thousand seeded mutations of them, for every parser of untrusted bytes.
/// `scripts/fuzz` explores new inputs with libFuzzer.
///
/// A failed assertion ends the process. The input is then in `.build/tests/fuzz-TARGET`, and `scripts/fuzz TARGET
/// FILE` repeats it. `HPEER_FUZZ_INPUTS=40000` tries more inputs, `HPEER_FUZZ_SEED=N` others.
@Suite(.serialized) struct FuzzTests {
  /// The limits for one target: the number of inputs, the time for one input, and the growth of the process in MiB.
  private struct Budget {
    var (inputs, limit, memory) = (3000, Duration.seconds(10), 256)

    init(_ target: String) {
      switch target {
      // Whole servers and clients.
      case "client", "phone": (inputs, limit, memory) = (60, .seconds(60), 384)
      case "apple-xml", "apple-xml-expat": (inputs, memory) = (1000, 384)
      case "curve-points": inputs = 1000
      case "zip", "zip-salvage": memory = 384
      default: break
      }
      if let all = ProcessInfo.processInfo.environment["HPEER_FUZZ_INPUTS"].flatMap({ Int($0) }) {
        inputs = target == "client" || target == "phone" ? min(inputs, all) : all
      }
    }
  }

  @Test("Each target has cases, and each folder of cases and each dictionary has a target")
  func corpora() throws {
    let names = Set(FuzzTarget.all.keys)
    let folders = try FileManager.default.contentsOfDirectory(atPath: FuzzCorpus.folder.path + "/Corpus")
    #expect(Set(folders) == names)
    let dictionaries = try FileManager.default.contentsOfDirectory(atPath: FuzzCorpus.folder.path + "/Dictionaries")
    #expect(names.isSuperset(of: dictionaries))
    for name in names { #expect(try !FuzzCorpus(name).cases.isEmpty, "no cases of \(name)") }
  }

  @Test(
    "What a target promises holds for its cases and for what is made of them", arguments: FuzzTarget.all.keys.sorted())
  func promises(_ name: String) async throws {
    let target = try #require(FuzzTarget.all[name])
    let (corpus, budget) = (try FuzzCorpus(name), Budget(name))
    let seed = ProcessInfo.processInfo.environment["HPEER_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
    let file = URL(filePath: ".build/tests/fuzz-\(name)")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: file)
    let kept = try FileHandle(forWritingTo: file)
    let count = try await onThread { isCancelled in
      let watch = InputWatch(name, limit: budget.limit, memory: budget.memory << 20)
      defer { watch.end() }
      var mutator = InputMutator(cases: corpus.cases, words: corpus.words, seed: seed)
      var count = 0
      while count < corpus.cases.count + budget.inputs, !isCancelled() {
        let input = count < corpus.cases.count ? corpus.cases[count] : mutator.next()
        try kept.seek(toOffset: 0)
        try kept.write(contentsOf: input)
        try kept.truncate(atOffset: UInt64(input.count))
        watch.begin(input)
        target(input)
        count += 1
      }
      return count
    }
    #expect(count == corpus.cases.count + budget.inputs)
    try FileManager.default.removeItem(at: file)
  }
}
