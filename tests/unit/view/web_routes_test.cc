#include "view/web/routes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::view {
namespace {

const std::string kToken = "0123456789abcdef0123";

class WebRoutes : public testing::Test {
 protected:
  WebRoutes() {
    guard_.token = kToken;
    guard_.cookie_name = "tidemark80";
    request_.method = "GET";
    request_.host = "127.0.0.1:80";
    request_.authorization = "Bearer " + kToken;
  }

  Route route(const std::string& target) {
    request_.target = target;
    return find_route(request_, guard_, recordings_);
  }
  unsigned status(const std::string& target) {
    return route(target).answer.status;
  }

  WebGuard guard_;
  base::HttpRequest request_;
  std::vector<ServedRecording> recordings_ = {
      {"a.tdm", "/runs/a.tdm", 10, 20, false},
      {"old/b c.tdm", "/runs/old/b c.tdm", 10, 20, false}};
};

using Words = std::vector<std::string>;

TEST_F(WebRoutes, KnowsThePageTheListAndTheStream) {
  EXPECT_EQ(route("/").kind, Route::Kind::Page);
  EXPECT_EQ(route("/?token=x").kind, Route::Kind::Page);
  EXPECT_EQ(route("/api/recordings").kind, Route::Kind::Recordings);
  EXPECT_EQ(route("/api/events").kind, Route::Kind::Events);
}

TEST_F(WebRoutes, RunsWhatTheCommandLineWould) {
  EXPECT_EQ(route("/api/recordings/a.tdm/peak?at=tick:7&by=rss").arguments,
            (Words{"peak", "/runs/a.tdm", "--format=jsonl", "--by=rss",
                   "--at=tick:7"}));
  EXPECT_EQ(route("/api/recordings/old%2Fb%20c.tdm/timeline").arguments,
            (Words{"report", "/runs/old/b c.tdm", "--format=jsonl",
                   "--part=timeline"}));
  EXPECT_EQ(route("/api/recordings/a.tdm/kinds").arguments,
            (Words{"report", "/runs/a.tdm", "--format=jsonl", "--part=kinds"}));
  EXPECT_EQ(route("/api/recordings/a.tdm/rest").arguments,
            (Words{"report", "/runs/a.tdm", "--format=jsonl", "--part=rest"}));
  EXPECT_EQ(route("/api/now/system").arguments,
            (Words{"system", "--count=1", "--json"}));
  EXPECT_EQ(route("/api/now/vm").arguments, (Words{"vm", "--json"}));
  const Route diff = route("/api/diff?before=a.tdm@start&after=old/b+c.tdm");
  EXPECT_EQ(diff.arguments, (Words{"diff", "/runs/a.tdm@start",
                                   "/runs/old/b c.tdm", "--format=jsonl"}));
  EXPECT_EQ(diff.recording_names, (Words{"a.tdm", "old/b c.tdm"}));
}

TEST_F(WebRoutes, TakesNoValueForAnOption) {
  const Route route =
      this->route("/api/recordings/a.tdm/peak?at=--output=/etc/passwd");
  ASSERT_EQ(route.arguments.size(), 4U);
  EXPECT_EQ(route.arguments[3], "--at=--output=/etc/passwd");
}

TEST_F(WebRoutes, KnowsNoFileButThoseOfTheList) {
  for (const char* target :
       {"/api/recordings/..%2Fa.tdm/peak",
        "/api/recordings/%2Fetc%2Fpasswd/info", "/api/recordings/A.TDM/info",
        "/api/diff?before=a.tdm&after=/etc/x", "/api/diff?before=a.tdm",
        "/api/recordings//info"}) {
    EXPECT_EQ(status(target), 404U) << target;
  }
}

TEST_F(WebRoutes, RefusesEverythingWithoutTheToken) {
  request_.authorization.clear();
  for (const char* target : {"/", "/api/recordings", "/x", "/%zz", "", "x",
                             "/?token=", "/?token=0123456789abcdef0124"}) {
    EXPECT_EQ(status(target), 403U) << target;
  }
  request_.authorization = "Bearer ";
  EXPECT_EQ(status("/"), 403U);
  guard_.token.clear();  // never so; but then nothing may pass
  EXPECT_EQ(status("/"), 403U);
}

TEST_F(WebRoutes, TellsAPersonInAPageWhatIsMissing) {
  request_.authorization.clear();
  EXPECT_EQ(route("/").answer.type, "application/json");
  request_.accept = "text/html,application/xhtml+xml";
  const Route refused = route("/");
  EXPECT_EQ(refused.answer.status, 403U);
  EXPECT_TRUE(refused.answer.type.starts_with("text/html"));
  EXPECT_NE(refused.answer.body.find("token"), std::string::npos);
}

TEST_F(WebRoutes, TakesTheTokenFromTheAddressAHeaderOrTheCookie) {
  EXPECT_EQ(route("/").kind, Route::Kind::Page);
  request_.authorization.clear();
  EXPECT_EQ(route("/?token=" + kToken).kind, Route::Kind::Page);
  request_.cookie = "other=1; tidemark80=" + kToken;
  EXPECT_EQ(route("/").kind, Route::Kind::Page);
  request_.cookie = "tidemark8=" + kToken + "; xtidemark80=" + kToken;
  EXPECT_EQ(status("/"), 403U);
}

TEST_F(WebRoutes, RefusesNamesThatOthersMadePointHere) {
  for (const char* host : {"evil.example", "localhost.evil.example", "",
                           "127.0.0.1.evil.example:80"}) {
    request_.host = host;
    EXPECT_EQ(status("/"), 403U) << host;
  }
  for (const char* host :
       {"localhost", "localhost:9000", "[::1]:80", "[::1]", "192.168.1.2:80"}) {
    request_.host = host;
    EXPECT_EQ(route("/").kind, Route::Kind::Page) << host;
  }
  guard_.host_names = {"box.lan"};
  request_.host = "box.lan:80";
  EXPECT_EQ(route("/").kind, Route::Kind::Page);
}

TEST_F(WebRoutes, OnlyReads) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "BREW"}) {
    request_.method = method;
    EXPECT_EQ(status("/api/recordings"), 405U) << method;
  }
  request_.method = "HEAD";
  EXPECT_EQ(route("/").kind, Route::Kind::Page);
}

TEST_F(WebRoutes, SaysWhatIsWrong) {
  EXPECT_EQ(status("/api/now/weather"), 404U);
  EXPECT_EQ(status("/api/recordings/a.tdm/weather"), 404U);
  EXPECT_EQ(status("/api/%0"), 400U);
  EXPECT_EQ(status("/api/now/ps?a=%00"), 400U);
  const base::HttpAnswer answer = route("/api/now/weather").answer;
  EXPECT_NE(answer.body.find("ps, system"), std::string::npos);
}

TEST_F(WebRoutes, KnowsScrapersByNameOrAddress) {
  request_.peer = "10.0.0.7";
  request_.accept = "application/openmetrics-text;version=1.0.0";
  const Route by_address = route("/metrics?collect=x");
  EXPECT_EQ(by_address.kind, Route::Kind::Metrics);
  EXPECT_EQ(by_address.scraper, "address 10.0.0.7");
  EXPECT_EQ(by_address.metrics_format, MetricsFormat::OpenMetrics);
  EXPECT_EQ(route("/metrics?scraper=a%20b").scraper, "name a b");
}

TEST_F(WebRoutes, MetricsAloneNeedNoTokenWhereTheGuardSaysSo) {
  request_.authorization.clear();
  request_.cookie.clear();
  EXPECT_EQ(status("/metrics"), 403U);
  guard_.needs_token = false;
  EXPECT_EQ(route("/metrics").kind, Route::Kind::Metrics);
  request_.host = "evil.example";
  EXPECT_EQ(status("/metrics"), 403U);
  guard_.takes_any_host = true;
  EXPECT_EQ(route("/metrics").kind, Route::Kind::Metrics);
}

TEST(PercentCoding, GoesThereAndBack) {
  const std::string name = "a b/<c>%\xff\"+.tdm";
  EXPECT_EQ(percent_decoded(percent_encoded(name)), name);
  EXPECT_EQ(percent_encoded("a/b c"), "a%2Fb%20c");
  EXPECT_EQ(percent_decoded("%4"), std::nullopt);
  EXPECT_EQ(percent_decoded("%xy"), std::nullopt);
}

TEST(RecordingsJson, ListsThemWithLinks) {
  const std::vector<ServedRecording> recordings = {
      {"a b.tdm", "/runs/a b.tdm", 10, 1'000'000'000, true}};
  const std::string text = recordings_json(recordings);
  EXPECT_NE(text.find(R"("link":"a%20b.tdm")"), std::string::npos);
  EXPECT_NE(text.find(R"("is_live":true)"), std::string::npos);
  EXPECT_EQ(text.find("/runs"), std::string::npos);  // nobody's business
}

TEST_F(WebRoutes, RefusesFaultyRequestsAfterTheTokenWhereThatCanBeSeen) {
  request_.fault = base::HttpFault::HasBody;
  EXPECT_EQ(status("/api/recordings"), 413U);
  request_.authorization = "";
  EXPECT_EQ(status("/api/recordings"), 403U);
  request_.fault = base::HttpFault::TooLong;
  EXPECT_EQ(status(""), 431U);
  request_.fault = base::HttpFault::Nonsense;
  EXPECT_EQ(status(""), 400U);
  EXPECT_NE(route("").answer.body.find("tidemark.error/1"), std::string::npos);
}

TEST_F(WebRoutes, NamesTheValuesOfAChoiceAsTheUrlCallsIt) {
  for (const char* target :
       {"/api/recordings/a.tdm/peak?by=x", "/api/now/treemap?by=x"}) {
    const Route refused = route(target);
    EXPECT_EQ(refused.answer.status, 400U);
    EXPECT_NE(refused.answer.body.find("'x' is no value of by"),
              std::string::npos);
  }
  EXPECT_EQ(route("/api/now/treemap?by=swap").kind, Route::Kind::Run);
  EXPECT_EQ(route("/api/recordings/a.tdm/peak?by=").kind, Route::Kind::Run);
}

}  // namespace
}  // namespace tidemark::view
