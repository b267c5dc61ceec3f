// An exchange for the tests of the FIX broker, over QuickFIX: an acceptor with an order book of its own.
//
// It is told what to do by lines on standard input and answers each with "ok" or "no REASON"; what happens by itself
// is told by lines that begin with "*". Usage: acceptor PORT FOLDER. The folder keeps session and logs of QuickFIX.
//
//   mode fill|ack|reject TEXT|drop-told|drop-untold|drop-lost|mute|twice
//                            what becomes of the next orders: filled at 100, working, refused; the connection breaks
//                            before the reports are told, or they are never told, or the order was never there;
//                            the order works and nothing is said; every report is sent twice
//   fill ID QUANTITY PRICE   executes a part of a working order
//   untold ID QUANTITY PRICE executes a part of a working order and says nothing
//   late ID QUANTITY PRICE   executes a part of an order that has been canceled, as far as it has room
//   trade TENTHS PRICE       executes so many tenths of what every order has left that this price reaches
//   stale ID                 tells how an order stood when it was new
//   cancel ID                cancels it unasked
//   bust EXECID              takes an execution back
//   say TYPE TAG=VALUE|...   sends any message
//   garble                   sends a message whose check sum is wrong
//   rubbish                  sends bytes that are no message
//   again                    sends the last execution again, with PossDupFlag and its old number
//   skip                     leaves out the next number
//   number N                 sets the next number
//   drop                     breaks the connection
//   hold                     keeps what there is to say until "release"
//   book                     answers "ok" with every order as ID:STATUS:CUM
//   executions               answers "ok" with the id of every execution that stands
//   held                     answers "ok" with what accounts hold as ACCOUNT:SYMBOL:QUANTITY
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>
#include <quickfix/Application.h>
#include <quickfix/FileLog.h>
#include <quickfix/FileStore.h>
#include <quickfix/SocketAcceptor.h>
#define private public
#include <quickfix/Session.h>
#undef private
#include <quickfix/SessionSettings.h>

struct Order {
  std::string id, account, symbol, side, original;
  double quantity = 0, filled = 0, value = 0, limit = 0;
  char status = '0';
  bool live() const { return status == '0' || status == '1'; }
  bool reachedBy(double price) const { return limit == 0 || (side == "1" ? price <= limit : price >= limit); }
};

struct Execution {
  std::string order;
  double quantity, price;
  bool busted = false;
};

static std::string text(double value) {
  std::ostringstream out;
  out.precision(12);
  out << value;
  return out.str();
}

class Exchange : public FIX::Application {
 public:
  std::recursive_mutex mutex;
  std::string mode = "fill", reason;

  void onCreate(const FIX::SessionID& session) override { id = session; }
  void onLogon(const FIX::SessionID&) override { tell("logon"); }
  void onLogout(const FIX::SessionID&) override { tell("logout"); }
  void toAdmin(FIX::Message&, const FIX::SessionID&) override {}
  void toApp(FIX::Message&, const FIX::SessionID&) throw(FIX::DoNotSend) override {}
  void fromAdmin(const FIX::Message&, const FIX::SessionID&)
      throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::RejectLogon) override {}

  void fromApp(const FIX::Message& message, const FIX::SessionID&)
      throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::UnsupportedMessageType) override {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    const std::string type = message.getHeader().getField(35);
    tell("in " + type + " " + get(message, 11));
    if (type == "D") enter(message);
    else if (type == "F") cancel(message);
    else if (type == "G") replace(message);
    else if (type == "H") status(message);
    else if (type == "AF") working(message);
    else if (type == "AN") positions(message);
    else throw FIX::UnsupportedMessageType();
  }

  void command(const std::string& line) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    std::istringstream in(line);
    std::string name, one, two, three;
    in >> name >> one >> two >> three;
    if (name == "mode") {
      mode = one;
      reason = two;
    } else if (name == "fill") {
      if (!orders.count(one) || !orders[one].live()) return answer("no such working order");
      execute(orders[one], std::stod(two), std::stod(three));
    } else if (name == "untold") {
      if (!orders.count(one) || !orders[one].live()) return answer("no such working order");
      execute(orders[one], std::stod(two), std::stod(three), false);
    } else if (name == "late") {
      if (!orders.count(one) || orders[one].status != '4') return answer("no such canceled order");
      Order& order = orders[one];
      const double quantity = std::min(std::stod(two), order.quantity - order.filled);
      if (quantity <= 0) return answer("room in the order");
      execute(order, quantity, std::stod(three));
      if (order.live()) order.status = '4';
    } else if (name == "trade") {
      for (auto& entry : orders) {
        Order& order = entry.second;
        const double rest = order.quantity - order.filled;
        if (order.live() && rest > 0 && order.reachedBy(std::stod(two)))
          execute(order, std::min(rest, std::ceil(rest * std::stod(one) / 10)), std::stod(two));
      }
    } else if (name == "stale") {
      if (!orders.count(one)) return answer("such order");
      Order before = orders[one];
      before.status = '0';
      before.filled = before.value = 0;
      report(before, 'I');
    } else if (name == "hold") {
      isHeld = true;
    } else if (name == "release") {
      release();
    } else if (name == "executions") {
      std::string all;
      for (const auto& entry : executions)
        if (!entry.second.busted) all += " " + entry.first;
      std::cout << "ok" << all << std::endl;
      return;
    } else if (name == "held") {
      std::map<std::string, double> held;
      for (const auto& entry : executions) {
        const Order& order = orders[entry.second.order];
        if (!entry.second.busted)
          held[order.account + ":" + order.symbol] += (order.side == "1" ? 1 : -1) * entry.second.quantity;
      }
      std::string all;
      for (const auto& entry : held) all += " " + entry.first + ":" + text(entry.second);
      std::cout << "ok" << all << std::endl;
      return;
    } else if (name == "cancel") {
      if (!orders.count(one) || !orders[one].live()) return answer("no such working order");
      orders[one].status = '4';
      report(orders[one], '4');
    } else if (name == "bust") {
      if (!executions.count(one)) return answer("no such execution");
      bust(one);
    } else if (name == "say") {
      FIX::Message message;
      message.getHeader().setField(35, one);
      std::istringstream fields(line.substr(line.find(one, 4) + one.size() + 1));
      for (std::string field; std::getline(fields, field, '|');) {
        const size_t equals = field.find('=');
        message.setField(std::stoi(field.substr(0, equals)), field.substr(equals + 1));
      }
      send(message);
    } else if (name == "garble") {
      raw("8=FIX.4.4|9=5|35=0|10=000|");
    } else if (name == "rubbish") {
      raw("this is=no message|at all|");
    } else if (name == "again") {
      if (!again()) return answer("no execution was told");
    } else if (name == "skip") {
      session()->setNextSenderMsgSeqNum(session()->getExpectedSenderNum() + 1);
    } else if (name == "number") {
      session()->setNextSenderMsgSeqNum(std::stoi(one));
    } else if (name == "drop") {
      session()->disconnect();
    } else if (name == "book") {
      std::string all;
      for (const auto& entry : orders)
        all += " " + entry.first + ":" + entry.second.status + ":" + text(entry.second.filled);
      std::cout << "ok" << all << std::endl;
      return;
    } else return answer("such command is known");
    std::cout << "ok" << std::endl;
  }

 private:
  FIX::SessionID id;
  std::map<std::string, Order> orders;
  std::map<std::string, Execution> executions;
  std::vector<FIX::Message> unsaid;
  bool isHeld = false;
  int made = 0;

  FIX::Session* session() { return FIX::Session::lookupSession(id); }
  static void answer(const std::string& why) { std::cout << "no " << why << std::endl; }
  static void tell(const std::string& what) { std::cout << "* " << what << std::endl; }
  static std::string get(const FIX::Message& message, int tag) {
    return message.isSetField(tag) ? message.getField(tag) : "";
  }
  void release() {
    isHeld = false;
    std::vector<FIX::Message> all;
    all.swap(unsaid);
    for (auto& message : all) send(message);
  }

  void send(FIX::Message& message) {
    if (isHeld) return unsaid.push_back(message);
    FIX::Session::sendToTarget(message, id);
    if (mode == "twice") FIX::Session::sendToTarget(message, id);
  }

  void raw(std::string message) {
    for (char& c : message)
      if (c == '|') c = '\001';
    session()->m_pResponder->send(message);
  }

  bool again() {
    if (!session()->isLoggedOn() || !session()->m_pResponder) return false;
    for (int number = session()->getExpectedSenderNum() - 1; number > 0; number--) {
      std::vector<std::string> stored;
      session()->getStore()->get(number, number, stored);
      if (stored.empty() || stored[0].find("\001150=F\001") == std::string::npos) continue;
      FIX::Message message(stored[0], false);
      message.getHeader().setField(122, message.getHeader().getField(52));
      message.getHeader().setField(43, "Y");
      return session()->m_pResponder->send(message.toString());
    }
    return false;
  }

  static double limitOf(const FIX::Message& message) {
    return message.isSetField(44) ? std::stod(message.getField(44)) : 0;
  }

  std::string next(const char* prefix) {
    return prefix + std::to_string(++made) + "-" + std::to_string(time(nullptr));
  }

  FIX::Message about(const Order& order, char type) {
    FIX::Message message;
    message.getHeader().setField(35, "8");
    message.setField(37, "X" + order.id);
    message.setField(17, type == 'I' ? "0" : next("E"));
    message.setField(150, std::string(1, type));
    message.setField(39, std::string(1, order.status));
    message.setField(1, order.account);
    message.setField(11, order.id);
    if (!order.original.empty()) message.setField(41, order.original);
    message.setField(55, order.symbol);
    message.setField(54, order.side);
    message.setField(38, text(order.quantity));
    message.setField(14, text(order.filled));
    message.setField(151, text(order.live() ? order.quantity - order.filled : 0));
    message.setField(6, text(order.filled > 0 ? order.value / order.filled : 0));
    message.setField(FIX::TransactTime(FIX::UtcTimeStamp()));
    return message;
  }

  void report(const Order& order, char type) {
    FIX::Message message = about(order, type);
    send(message);
  }

  void execute(Order& order, double quantity, double price, bool isTold = true) {
    order.filled += quantity;
    order.value += quantity * price;
    order.status = order.filled >= order.quantity ? '2' : '1';
    FIX::Message message = about(order, 'F');
    message.setField(32, text(quantity));
    message.setField(31, text(price));
    executions[message.getField(17)] = Execution{order.id, quantity, price};
    tell("execution " + message.getField(17));
    if (isTold) send(message);
  }

  void bust(const std::string& execution) {
    Execution& busted = executions[execution];
    Order& order = orders[busted.order];
    busted.busted = true;
    order.filled -= busted.quantity;
    order.value -= busted.quantity * busted.price;
    order.status = '4';
    FIX::Message message = about(order, 'H');
    message.setField(19, execution);
    send(message);
  }

  void enter(const FIX::Message& message) {
    Order order;
    order.id = get(message, 11);
    order.account = get(message, 1);
    order.symbol = get(message, 55);
    order.side = get(message, 54);
    order.quantity = std::stod(get(message, 38));
    order.limit = limitOf(message);
    if (orders.count(order.id)) {
      tell("duplicate " + order.id);
      order.status = '8';
      FIX::Message refusal = about(order, '8');
      refusal.setField(103, "6");
      return send(refusal);
    }
    if (mode == "reject") {
      order.status = '8';
      orders[order.id] = order;
      FIX::Message refusal = about(order, '8');
      refusal.setField(103, "0");
      refusal.setField(58, reason);
      return send(refusal);
    }
    if (mode.rfind("drop", 0) == 0) session()->disconnect();
    const std::string now = mode;
    if (now.rfind("drop", 0) == 0) mode = "fill";
    if (now == "drop-lost") return;
    orders[order.id] = order;
    if (now == "mute" || now == "drop-untold") return;
    report(order, '0');
    if (now == "fill" || now == "twice" || now == "drop-told") execute(orders[order.id], order.quantity, 100);
  }

  void refuse(const FIX::Message& message, const char* answering, const char* why) {
    FIX::Message refusal;
    refusal.getHeader().setField(35, "9");
    refusal.setField(37, "NONE");
    refusal.setField(11, get(message, 11));
    refusal.setField(41, get(message, 41));
    refusal.setField(39, orders.count(get(message, 41)) ? std::string(1, orders[get(message, 41)].status) : "8");
    refusal.setField(1, get(message, 1));
    refusal.setField(434, answering);
    refusal.setField(102, why);
    refusal.setField(58, "refused");
    refusal.setField(FIX::TransactTime(FIX::UtcTimeStamp()));
    send(refusal);
  }

  void cancel(const FIX::Message& message) {
    const auto found = orders.find(get(message, 41));
    if (found == orders.end()) return refuse(message, "1", "1");
    if (!found->second.live() || mode == "stubborn") return refuse(message, "1", "0");
    Order told = found->second;
    told.id = get(message, 11);
    told.original = found->first;
    told.status = '6';
    report(told, '6');
    found->second.status = told.status = '4';
    report(told, '4');
  }

  void replace(const FIX::Message& message) {
    const auto found = orders.find(get(message, 41));
    if (found == orders.end()) return refuse(message, "2", "1");
    if (!found->second.live() || mode == "stubborn") return refuse(message, "2", "0");
    Order order = found->second;
    order.original = order.id;
    order.id = get(message, 11);
    order.status = 'E';
    report(order, 'E');
    order.quantity = std::max(std::stod(get(message, 38)), order.filled);
    order.limit = limitOf(message);
    order.status = order.filled >= order.quantity ? '2' : order.filled > 0 ? '1' : '0';
    found->second.status = '5';
    report(order, '5');
    order.original.clear();
    orders[order.id] = order;
  }

  void status(const FIX::Message& message) {
    const auto found = orders.find(get(message, 11));
    Order none;
    none.id = get(message, 11);
    none.account = get(message, 1);
    none.symbol = get(message, 55);
    none.side = get(message, 54);
    none.status = '8';
    FIX::Message answer = about(found == orders.end() ? none : found->second, 'I');
    if (found == orders.end()) answer.setField(103, "5");
    if (!get(message, 790).empty()) answer.setField(790, get(message, 790));
    send(answer);
  }

  void working(const FIX::Message& message) {
    std::vector<Order> live;
    for (const auto& entry : orders)
      if (entry.second.live() && entry.second.account == get(message, 1)) live.push_back(entry.second);
    if (live.empty()) {
      Order none;
      none.id = "NONE";
      none.symbol = "NONE";
      none.account = get(message, 1);
      none.status = '8';
      FIX::Message answer = about(none, 'I');
      answer.setField(103, "5");
      answer.setField(584, get(message, 584));
      answer.setField(911, "0");
      return send(answer);
    }
    for (size_t place = 0; place < live.size(); place++) {
      FIX::Message answer = about(live[place], 'I');
      answer.setField(584, get(message, 584));
      answer.setField(911, std::to_string(live.size()));
      answer.setField(912, place + 1 == live.size() ? "Y" : "N");
      send(answer);
    }
  }

  void positions(const FIX::Message& message) {
    std::map<std::string, double> held;
    for (const auto& entry : executions) {
      const Order& order = orders[entry.second.order];
      if (entry.second.busted || order.account != get(message, 1)) continue;
      held[order.symbol] += order.side == "1" ? entry.second.quantity : -entry.second.quantity;
    }
    FIX::Message acknowledged;
    acknowledged.getHeader().setField(35, "AO");
    acknowledged.setField(721, next("A"));
    acknowledged.setField(710, get(message, 710));
    acknowledged.setField(727, std::to_string(held.size()));
    acknowledged.setField(728, held.empty() ? "2" : "0");
    acknowledged.setField(729, "0");
    acknowledged.setField(1, get(message, 1));
    send(acknowledged);
    for (const auto& entry : held) {
      FIX::Message position;
      position.getHeader().setField(35, "AP");
      position.setField(721, next("M"));
      position.setField(710, get(message, 710));
      position.setField(727, std::to_string(held.size()));
      position.setField(728, "0");
      position.setField(1, get(message, 1));
      position.setField(55, entry.first);
      FIX::Group quantity(702, 703);
      quantity.setField(703, "TQ");
      quantity.setField(entry.second >= 0 ? 704 : 705, text(std::abs(entry.second)));
      position.addGroup(quantity);
      send(position);
    }
  }
};

int main(int count, char** words) {
  if (count < 3) return 1;
  const std::string folder = words[2];
  std::istringstream text(
      "[DEFAULT]\nConnectionType=acceptor\nSocketReuseAddress=Y\nSocketAcceptPort=" + std::string(words[1]) +
      "\nFileStorePath=" + folder + "\nFileLogPath=" + folder +
      "\nStartTime=00:00:00\nEndTime=00:00:00\nUseDataDictionary=N\nCheckLatency=N\nResetOnLogon=N\n" +
      "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=EXCHANGE\nTargetCompID=LOCKSTEP\n");
  try {
    FIX::SessionSettings settings(text);
    Exchange exchange;
    FIX::FileStoreFactory store(settings);
    FIX::FileLogFactory log(settings);
    FIX::SocketAcceptor acceptor(exchange, store, settings, log);
    acceptor.start();
    std::cout << "* ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) exchange.command(line);
    acceptor.stop();
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
