import HealthModel

/// What people may mean by words that are no commands.
enum CommandMeaning {
  /// Commands that close or delete something: nobody is led to them by a word that is something else.
  static let drastic: Set = ["delete", "lock", "remove", "restore", "revoke", "undelete", "unpair"]

  private static let meanings: [String: [String]] = [
    "share": ["serve"], "start": ["serve", "run"], "listen": ["serve"], "advertise": ["serve"],
    "send": ["serve", "destination add"], "push": ["destination add"], "upload": ["destination add"],
    "stop": ["service", "status"], "log": ["audit"], "logs": ["audit"], "history": ["audit"], "who": ["audit"],
    "access": ["audit"], "update": ["pull"], "fetch": ["pull"], "download": ["pull"], "receive": ["pull"],
    "refresh": ["pull", "sync"], "today": ["summary"], "day": ["summary"], "overview": ["summary"],
    "gui": ["report", "chart"], "ui": ["report", "chart"], "web": ["report"], "window": ["report"],
    "graph": ["chart"], "plot": ["chart"], "list": ["types"], "ls": ["types"], "find": ["discover"],
    "scan": ["discover"], "search": ["discover"], "devices": ["peers", "discover"], "machines": ["peers"],
    "clients": ["peers"], "check": ["doctor"], "diagnose": ["doctor"], "debug": ["doctor"], "compare": ["verify"],
    "settings": ["config"], "configure": ["config"], "setup": ["config init"], "load": ["import"], "read": ["import"],
    "add": ["import"], "save": ["export", "backup"], "dump": ["export"], "csv": ["export"], "pdf": ["report"],
    "print": ["report", "show"], "doc": ["report"], "doctors": ["report"], "night": ["sleep"], "nights": ["sleep"],
    "ecg": ["show ecg"], "schedule": ["automation"], "cron": ["automation"], "timezone": ["zone"], "tz": ["zone"],
    "unit": ["units"], "version": ["--version"], "unshare": ["peers"], "block": ["peers"], "daemon": ["service"],
    "install": ["service install"], "grafana": ["export --format sqlite"], "undo": ["import --undo"],
  ]

  /// Commands without `hpeer`, the likeliest first; none where the word says nothing.
  static func commands(for word: String) -> [String] {
    let word = word.lowercased()
    if let commands = meanings[word] { return commands }
    // A type alone is asked for its numbers.
    guard let type = TypeWords.types(word, held: []).first else { return [] }
    let name = type.shortName
    return SampleTypeCatalogue.healthKit[type]?.aggregation == nil
      ? ["show \(name)"] : ["stats \(name)", "latest \(name)"]
  }
}
